package io.caravan.bench.patterns;

import io.caravan.bench.report.HandFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** The files of one run: a new one, one with a size but no blocks, and one whose blocks are all written. */
final class PatternFiles implements AutoCloseable {
    private final Path grown;
    private final Path recycled;
    private final long bytes;

    /**
     * Prepares the file whose blocks are written in advance.
     *
     * @param bytes the most that a run writes: the size of the files that have one
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

    /** A file that does not exist. */
    Path missing() throws IOException {
        Files.deleteIfExists(grown);
        return grown;
    }

    /** A file with a size but no blocks, which is all the preallocation that Java offers. */
    Path sized() throws IOException {
        Path path = missing();
        try (FileChannel channel = FileChannel.open(path, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            channel.write(ByteBuffer.allocate(1), bytes - 1);
            channel.force(true);
        }
        return path;
    }

    /** A file that has been completely written and forced. */
    Path recycled() {
        return recycled;
    }

    /** Deletes the files, so that unforced data never reaches the disk. */
    @Override
    public void close() throws IOException {
        Files.deleteIfExists(grown);
        Files.deleteIfExists(recycled);
    }
}
