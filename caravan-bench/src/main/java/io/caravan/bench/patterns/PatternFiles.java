package io.caravan.bench.patterns;

import io.caravan.bench.report.HandFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** The files that are written in one run: a new one, one that only has its size, one whose blocks are all written. */
final class PatternFiles implements AutoCloseable {
    private final Path grown;
    private final Path recycled;
    private final long bytes;

    /**
     * Writes the file that is written before.
     *
     * @param bytes what is written at most: the size of the files that have one
     */
    PatternFiles(Path directory, long bytes) throws IOException {
        this.bytes = bytes;
        grown = directory.resolve("grown");
        recycled = directory.resolve("recycled");
        try (HandFile file = new HandFile(recycled)) {
            file.prepare(bytes);
        }
    }

    long bytes() {
        return bytes;
    }

    /** A file that is not there. */
    Path missing() throws IOException {
        Files.deleteIfExists(grown);
        return grown;
    }

    /** A file that has its size and no blocks: as much of an allocation as Java offers. */
    Path sized() throws IOException {
        Path path = missing();
        try (FileChannel channel = FileChannel.open(path, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            channel.write(ByteBuffer.allocate(1), bytes - 1);
            channel.force(true);
        }
        return path;
    }

    /** A file that was written, all of it, and forced. */
    Path recycled() {
        return recycled;
    }

    /** Deletes them; what was not forced never goes to the disk. */
    @Override
    public void close() throws IOException {
        Files.deleteIfExists(grown);
        Files.deleteIfExists(recycled);
    }
}
