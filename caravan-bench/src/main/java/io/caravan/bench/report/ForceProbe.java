package io.caravan.bench.report;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import org.HdrHistogram.Histogram;

/** Measures the minimum time of a durable append: one write and fsync of a block in a preallocated file. */
public final class ForceProbe implements AutoCloseable {
    /** The smallest unit that a disk writes. */
    public static final int SMALL_BLOCK_BYTES = 4096;

    private static final int DIGITS = 3;
    private static final double NANOS_PER_SECOND = 1e9;
    private static final double BYTES_PER_MB = 1e6;

    private final HandFile file;
    private final int blockBytes;
    private final int count;

    /**
     * Prepares the file.
     *
     * @param count number of blocks; each is written and fsynced once
     */
    public ForceProbe(Path directory, int blockBytes, int count) throws IOException {
        this.blockBytes = blockBytes;
        this.count = count;
        file = new HandFile(directory.resolve("force-probe"));
        file.prepare((long) count * blockBytes);
    }

    /** Writes and fsyncs all blocks. */
    public Measurement run() throws IOException {
        return run(Long.MAX_VALUE);
    }

    /** Writes and fsyncs blocks until the time is up or all are written. */
    public Measurement run(long atMostNanos) throws IOException {
        Histogram nanos = new Histogram(DIGITS);
        ByteBuffer block = ByteBuffer.allocateDirect(blockBytes);
        long start = System.nanoTime();
        long last = start;
        int done = 0;
        while (done < count && last - start < atMostNanos) {
            file.write(block.clear(), (long) done * blockBytes);
            file.force();
            long now = System.nanoTime();
            nanos.recordValue(now - last);
            last = now;
            done++;
        }
        double seconds = (last - start) / NANOS_PER_SECOND;
        return new Measurement()
                .appendsPerSecond(done, last - start)
                .with(Figure.VALUE_MB_PER_SECOND, (double) done * blockBytes / BYTES_PER_MB / seconds)
                .latency(nanos.getValueAtPercentile(50), nanos.getValueAtPercentile(99));
    }

    @Override
    public void close() throws IOException {
        file.close();
    }
}
