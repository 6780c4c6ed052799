package io.caravan.bench.engine;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import org.HdrHistogram.Histogram;

/** What no durable append can be faster than: one write and force of 4 KiB in a file that was allocated before. */
final class ForceProbe implements AutoCloseable {
    private static final int BLOCK_BYTES = 4096;
    private static final int DIGITS = 3;

    private final HandFile file;
    private final int count;

    ForceProbe(Path directory, int count) throws IOException {
        this.count = count;
        file = new HandFile(directory.resolve("force-probe"));
        file.prepare((long) count * BLOCK_BYTES);
    }

    Measurement run() throws IOException {
        Histogram nanos = new Histogram(DIGITS);
        ByteBuffer block = ByteBuffer.allocateDirect(BLOCK_BYTES);
        long start = System.nanoTime();
        long last = start;
        for (int i = 0; i < count; i++) {
            file.write(block.clear(), (long) i * BLOCK_BYTES);
            file.force();
            long now = System.nanoTime();
            nanos.recordValue(now - last);
            last = now;
        }
        return new Measurement()
                .appendsPerSecond(count, last - start)
                .latency(nanos.getValueAtPercentile(50), nanos.getValueAtPercentile(99));
    }

    @Override
    public void close() throws IOException {
        file.close();
    }
}
