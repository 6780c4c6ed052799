package io.caravan.bench.engine;

import io.caravan.bench.Directories;
import io.caravan.bench.engine.AsyncAppends.Batches;
import io.caravan.bench.report.HandFile;
import io.caravan.bench.report.Measurement;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.file.Path;

/**
 * Writes the same bytes as a store, but without a store and on one thread. Assembles each batch in a buffer, writes and
 * fsyncs the batch with two calls, and copies its values into a mapped file. The batches have the mean size of the
 * store's batches. The files are prepared before the clock starts.
 */
final class ByHand implements AutoCloseable {
    private final Workload workload;
    private final HandFile log;
    private final HandFile heap;

    ByHand(Workload workload, Path directory) throws IOException {
        Directories.create(directory);
        this.workload = workload;
        log = new HandFile(directory.resolve("by-hand.log"));
        heap = new HandFile(directory.resolve("by-hand.heap"));
    }

    Measurement run(Batches batches) throws IOException {
        int count = batches.appends();
        long forces = Math.max(1, batches.forces());
        long valueBytes = workload.bytes(count);
        int batchBytes = (int) Math.max(1, batches.logBytes() / forces);
        log.prepare(forces * batchBytes);
        heap.prepare(valueBytes);
        MappedByteBuffer mapped = heap.map(valueBytes).load();
        ByteBuffer batch = ByteBuffer.allocateDirect(batchBytes);
        long start = System.nanoTime();
        LongestGap gap = new LongestGap(start);
        for (long i = 0; i < forces; i++) {
            int from = (int) (count * i / forces);
            int to = (int) (count * (i + 1) / forces);
            writeBatch(batch, from, to, i * batchBytes);
            for (int value = from; value < to; value++) {
                mapped.put(workload.value(value));
            }
            gap.eventAt(System.nanoTime());
        }
        long nanos = System.nanoTime() - start;
        return new Measurement()
                .rate(count, valueBytes, forces * batchBytes, nanos)
                .longestAckGap(gap.nanos())
                .batches(forces, forces * batchBytes);
    }

    private void writeBatch(ByteBuffer batch, int from, int to, long position) throws IOException {
        batch.clear();
        for (int value = from; value < to; value++) {
            byte[] bytes = workload.value(value);
            batch.put(bytes, 0, Math.min(bytes.length, batch.remaining()));
        }
        log.write(batch.clear(), position);
        log.force();
    }

    @Override
    public void close() throws IOException {
        log.close();
        heap.close();
    }
}
