package io.caravan.bench.gate;

import io.caravan.Durability;
import io.caravan.ListStore;
import io.caravan.bench.WorkDirectories;
import io.caravan.bench.engine.Stores;
import io.caravan.bench.engine.Workload;
import io.caravan.bench.report.HandFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;

/**
 * Measures the median time of an append whose writer waits for it, divided by the median time of a plain write and
 * fsync of 4 KiB. Appends and plain writes alternate.
 */
final class WaitingWriterProbe implements Probe {
    private static final int BLOCK_BYTES = 4096;
    private static final int FILE_BLOCKS = 4096;
    /** Time limit of a round. On a very slow disk, the round reaches this limit before its number of appends. */
    private static final long LIMIT_NANOS = TimeUnit.MILLISECONDS.toNanos(800);

    private static final int LEAST = 10;

    private final int count;
    private final Workload workload = Workload.small(1);
    private final ListStore store;
    private final HandFile file;
    private final ByteBuffer block = ByteBuffer.allocateDirect(BLOCK_BYTES);
    private int number;

    WaitingWriterProbe(Path directory, boolean quick) throws IOException {
        count = quick ? 100 : 300;
        WorkDirectories.create(directory);
        store = new Stores(quick).open(directory.resolve("store"), Durability.SYNC);
        file = new HandFile(directory.resolve("by-hand"));
        file.prepare((long) FILE_BLOCKS * BLOCK_BYTES);
    }

    @Override
    public double round() throws IOException {
        double[] appends = new double[count];
        double[] fsyncs = new double[count];
        long start = System.nanoTime();
        int done = 0;
        while (done < count && (done < LEAST || System.nanoTime() - start < LIMIT_NANOS)) {
            fsyncs[done] = fsync();
            appends[done] = append();
            done++;
        }
        return Costs.median(Arrays.copyOf(appends, done)) / Costs.median(Arrays.copyOf(fsyncs, done));
    }

    private long fsync() throws IOException {
        long start = System.nanoTime();
        file.write(block.clear(), (long) (number % FILE_BLOCKS) * BLOCK_BYTES);
        file.fsync();
        return System.nanoTime() - start;
    }

    private long append() {
        long start = System.nanoTime();
        store.append(workload.id(number), workload.value(number)).join();
        number++;
        return System.nanoTime() - start;
    }

    @Override
    public void close() throws IOException {
        store.close();
        file.close();
    }
}
