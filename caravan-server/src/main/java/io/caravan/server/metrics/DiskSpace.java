package io.caravan.server.metrics;

import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;

/** The current free space and size of the file system that contains a store. Thread-safe. */
public record DiskSpace(Path directory) {
    /** The result for a value that the operating system does not report. */
    private static final long UNKNOWN = -1;

    private interface Figure {
        long of(FileStore disk) throws IOException;
    }

    /** Returns the number of bytes that this process may still write; -1 if the system does not report it. */
    public long freeBytes() {
        return read(FileStore::getUsableSpace);
    }

    /** Returns the file system's size in bytes; -1 if the system does not report it. */
    public long totalBytes() {
        return read(FileStore::getTotalSpace);
    }

    private long read(Figure figure) {
        try {
            return figure.of(Files.getFileStore(directory));
        } catch (IOException unknown) {
            return UNKNOWN; // A missing metric must not suppress the others.
        }
    }
}
