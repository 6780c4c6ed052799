package io.caravan.bench.network;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/** Processor time of the child processes that have ended, which the operating system reports as one sum. */
final class EndedChildren {
    private static final Path STATUS = Path.of("/proc/self/stat");
    /** Index of a word, counted from the end of the program's name, which is in parentheses and may contain spaces. */
    private static final int USER_WORD = 14;

    private static final int SYSTEM_WORD = 15;
    /** Length of a clock tick of Linux, which reports times in hundredths of a second. */
    private static final long TICK_MILLIS = 10;

    private EndedChildren() {}

    /** Returns the total time of all children that have ended so far, in steps of 10 ms. */
    static Duration cpuTime() throws IOException {
        String status = Files.readString(STATUS);
        String[] words = status.substring(status.lastIndexOf(')')).split(" ");
        return Duration.ofMillis(TICK_MILLIS * (Long.parseLong(words[USER_WORD]) + Long.parseLong(words[SYSTEM_WORD])));
    }
}
