package io.caravan.bench.network;

import io.caravan.bench.report.Figure;
import io.caravan.bench.report.Measurement;
import java.io.IOException;

/** Memory of a JVM server, in bytes: resident memory and live heap. */
record Footprint(long resident, long heap) {
    private static final double BYTES_PER_MIB = 1 << 20;
    private static final double BYTES_PER_KIB = 1 << 10;

    /** Reads the memory after a garbage collection, so that garbage does not count. */
    static Footprint of(RunningServer server) throws IOException {
        long heap = server.liveHeapBytes();
        return new Footprint(server.memory().resident(), heap);
    }

    /** Figures of the growth since {@code before}, divided by {@code count} items. */
    Measurement growthTo(Footprint after, int count) {
        return new Measurement()
                .with(Figure.RSS_BEFORE_MIB, resident / BYTES_PER_MIB)
                .with(Figure.RSS_AFTER_MIB, after.resident / BYTES_PER_MIB)
                .with(Figure.HEAP_BEFORE_MIB, heap / BYTES_PER_MIB)
                .with(Figure.HEAP_AFTER_MIB, after.heap / BYTES_PER_MIB)
                .with(Figure.RSS_KIB_EACH, (after.resident - resident) / BYTES_PER_KIB / count)
                .with(Figure.HEAP_KIB_EACH, (after.heap - heap) / BYTES_PER_KIB / count);
    }
}
