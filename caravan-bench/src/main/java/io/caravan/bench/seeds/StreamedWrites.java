package io.caravan.bench.seeds;

import io.caravan.CaravanException;
import io.caravan.Durability;
import io.caravan.ListStore;
import io.caravan.WriteCallback;
import io.caravan.bench.report.Figure;
import io.caravan.bench.report.Measurement;
import io.caravan.bench.report.Turn;
import java.io.IOException;
import java.util.concurrent.TimeUnit;

/**
 * One producer that writes to lists in turn at full speed; the clock stops when the last write has reached the
 * durability level.
 *
 * @param warm whether as many writes go to the same lists first, so that the store has reached its size
 */
record StreamedWrites(String name, int count, int lists, int valueBytes, boolean warm) implements Work {
    private static final double BYTES_PER_MB = 1e6;
    private static final double NANOS_PER_SECOND = 1e9;

    @Override
    public Measurement run(Turn turn, Durability level) throws IOException {
        try (FreshStore fresh = new FreshStore(turn, level)) {
            if (warm) {
                write(fresh.store());
            }
            long start = System.nanoTime();
            int written = write(fresh.store());
            double seconds = (System.nanoTime() - start) / NANOS_PER_SECOND;
            return new Measurement()
                    .with(Figure.APPENDS_PER_SECOND, written / seconds)
                    .with(Figure.VALUE_MB_PER_SECOND, (double) written * valueBytes / BYTES_PER_MB / seconds);
        }
    }

    private int write(ListStore store) {
        byte[] value = new byte[valueBytes];
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(Posts.MAX_SECONDS);
        int written = 0;
        while (written < count && System.nanoTime() - end < 0) {
            store.append(written % lists, value, FAILING_LOUDLY);
            written++;
        }
        store.flush();
        return written;
    }

    private static final WriteCallback FAILING_LOUDLY = new WriteCallback() {
        @Override
        public void success(long sequence) {
            // The flush at the end waits for all writes.
        }

        @Override
        public void failure(CaravanException problem) {
            throw problem;
        }
    };
}
