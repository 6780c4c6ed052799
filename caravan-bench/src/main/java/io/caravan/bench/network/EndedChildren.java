package io.caravan.bench.network;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/** Processor time of child processes, which the operating system tells of those that have ended in one sum. */
final class EndedChildren {
    private static final Path STATUS = Path.of("/proc/self/stat");
    /** Behind the program's name, which is in parentheses and may have spaces. */
    private static final int USER_WORD = 14;

    private static final int SYSTEM_WORD = 15;
    /** A tick is that long on every Linux. */
    private static final long TICK_MILLIS = 10;

    private EndedChildren() {}

    /** What all of them that have ended so far have used, in steps of 10 ms. */
    static Duration cpuTime() throws IOException {
        String status = Files.readString(STATUS);
        String[] words = status.substring(status.lastIndexOf(')')).split(" ");
        return Duration.ofMillis(TICK_MILLIS * (Long.parseLong(words[USER_WORD]) + Long.parseLong(words[SYSTEM_WORD])));
    }
}
