package io.caravan.bench.life;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalLong;

/**
 * What Linux has written to the disk that a directory is on, whichever program asked for it.
 *
 * <p>The count of a process ({@code /proc/self/io}) would not do: it is of pages that became dirty, and counts up to 2
 * MiB for a write of 4 KiB into a file that the page cache holds in large folios.
 */
final class DiskWrites {
    private static final int SECTORS_WRITTEN_WORD = 6;
    /** Whatever the disk's own sectors are. */
    private static final int SECTOR_BYTES = 512;

    private DiskWrites() {}

    /** Bytes since the machine started; empty when the system does not count them. */
    static OptionalLong bytes(Path directory) throws IOException {
        Path statistics = Path.of("/sys/dev/block", device(directory), "stat");
        if (!Files.isReadable(statistics)) {
            return OptionalLong.empty();
        }
        String[] words = Files.readString(statistics).strip().split(" +");
        return OptionalLong.of(SECTOR_BYTES * Long.parseLong(words[SECTORS_WRITTEN_WORD]));
    }

    /** Major and minor number, as Linux packs them into one. */
    private static String device(Path directory) throws IOException {
        long number = ((Number) Files.getAttribute(directory, "unix:dev")).longValue();
        long major = number >> 8 & 0xfff | number >> 32 & ~0xfffL;
        long minor = number & 0xff | number >> 12 & 0xffffff00L;
        return major + ":" + minor;
    }
}
