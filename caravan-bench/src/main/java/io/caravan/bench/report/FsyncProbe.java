package io.caravan.bench.report;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import org.HdrHistogram.Histogram;

/** Measures the minimum time of a durable append: one write and fsync of a block in a preallocated file. */
public final class FsyncProbe {
    /** The size of a small block: the smallest unit that a disk writes. */
    public static final int SMALL_BLOCK_BYTES = 4096;

    private static final int DIGITS = 3;

    private FsyncProbe() {}

    /** Measures writes and fsyncs of blocks of 4 KiB. */
    public static Measurement run(Path directory, int count) throws IOException {
        return run(directory, SMALL_BLOCK_BYTES, count);
    }

    /** Measures a write and fsync of each block of a new file. */
    public static Measurement run(Path directory, int blockBytes, int count) throws IOException {
        return run(directory, blockBytes, count, Long.MAX_VALUE);
    }

    /** Measures a write and fsync of each block of a new file, until the time is up or all blocks are written. */
    static Measurement run(Path directory, int blockBytes, int count, long atMostNanos) throws IOException {
        Histogram nanos = new Histogram(DIGITS);
        ByteBuffer block = ByteBuffer.allocateDirect(blockBytes);
        try (HandFile file = new HandFile(directory.resolve("fsync-probe"))) {
            file.prepare((long) count * blockBytes);
            long start = System.nanoTime();
            long last = start;
            int done = 0;
            while (done < count && last - start < atMostNanos) {
                file.write(block.clear(), (long) done * blockBytes);
                file.fsync();
                long now = System.nanoTime();
                nanos.recordValue(now - last);
                last = now;
                done++;
            }
            return new Measurement()
                    .rate(done, (long) done * blockBytes, last - start)
                    .latency(nanos);
        }
    }
}
