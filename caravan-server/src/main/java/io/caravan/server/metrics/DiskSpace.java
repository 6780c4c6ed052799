package io.caravan.server.metrics;

import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;

/** The space of the file system that a store lies on, as it is when it is asked. Thread-safe. */
public final class DiskSpace {
    /** What is told where the system does not say. */
    private static final long UNKNOWN = -1;

    private final Path directory;

    public DiskSpace(Path directory) {
        this.directory = directory;
    }

    private interface Figure {
        long of(FileStore disk) throws IOException;
    }

    /** Bytes that this process may still write; -1 when the system does not say. */
    public long freeBytes() {
        return ask(FileStore::getUsableSpace);
    }

    /** The file system's size in bytes; -1 when the system does not say. */
    public long totalBytes() {
        return ask(FileStore::getTotalSpace);
    }

    private long ask(Figure figure) {
        try {
            return figure.of(Files.getFileStore(directory));
        } catch (IOException unknown) {
            return UNKNOWN; // A figure that is missing must not take the others with it.
        }
    }
}
