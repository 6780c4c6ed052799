package io.caravan.server.metrics;

import java.nio.file.Path;

/** The current free space and size of the file system that contains a store. Thread-safe. */
public record DiskSpace(Path directory) {
    /** The result for a value that the operating system does not report. */
    private static final long UNKNOWN = -1;

    /** Returns the number of bytes that this process may still write; -1 if the system does not report it. */
    public long freeBytes() {
        return totalBytes() == UNKNOWN ? UNKNOWN : directory.toFile().getUsableSpace();
    }

    /** Returns the file system's size in bytes; -1 if the system does not report it. */
    public long totalBytes() {
        long bytes = directory.toFile().getTotalSpace();
        return bytes == 0 ? UNKNOWN : bytes;
    }
}
