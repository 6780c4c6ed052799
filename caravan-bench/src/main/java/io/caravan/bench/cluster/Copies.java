package io.caravan.bench.cluster;

import io.caravan.bench.Directories;
import io.caravan.bench.ProgressLine;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.SplittableRandom;

/** Measures the time that plain I/O takes to copy a file. */
final class Copies {
    private static final int BLOCK_BYTES = 1 << 20;

    private Copies() {}

    /**
     * Writes a file of random bytes, and then makes several copies of it, one after another.
     *
     * @param bytes minimum size, which is rounded up to mebibytes
     * @return time in nanoseconds from the first copy until the last copy is fsynced
     */
    static long nanos(Path work, long bytes, int copies) throws IOException {
        Path folder = Files.createTempDirectory(work, "copies");
        try {
            Path original = folder.resolve("original");
            write(original, bytes);
            long start = System.nanoTime();
            for (int i = 1; i <= copies; i++) {
                copy(original, folder.resolve("copy" + i));
            }
            return System.nanoTime() - start;
        } finally {
            Directories.delete(folder);
        }
    }

    private static void write(Path file, long bytes) throws IOException {
        SplittableRandom random = new SplittableRandom(bytes);
        byte[] block = new byte[BLOCK_BYTES];
        try (Writer writer = new Writer(file)) {
            for (long written = 0; written < bytes; written += BLOCK_BYTES) {
                random.nextBytes(block);
                writer.write(ByteBuffer.wrap(block));
            }
        }
    }

    private static void copy(Path original, Path copy) throws IOException {
        ByteBuffer block = ByteBuffer.allocateDirect(BLOCK_BYTES);
        try (FileChannel in = FileChannel.open(original, StandardOpenOption.READ);
                Writer writer = new Writer(copy)) {
            while (in.read(block.clear()) >= 0) {
                writer.write(block.flip());
            }
        }
    }

    /** A new file, which is fsynced when it is closed. */
    private static final class Writer implements AutoCloseable {
        private final FileChannel channel;
        private final ProgressLine progress = new ProgressLine(System.err);
        private long written;

        Writer(Path file) throws IOException {
            channel = FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
        }

        void write(ByteBuffer block) throws IOException {
            while (block.hasRemaining()) {
                written += channel.write(block);
            }
            progress.show(() -> "copying by hand: " + (written >> 20) + " MiB");
        }

        @Override
        public void close() throws IOException {
            try (channel) {
                channel.force(true);
            }
            progress.clear();
        }
    }
}
