package io.caravan.bench.network;

import io.caravan.bench.report.Figure;
import io.caravan.bench.report.Measurement;
import java.io.IOException;

/** Memory of a server that is a JVM, in bytes: what is resident, and what lives on the heap. */
record Footprint(long resident, long heap) {
    private static final double BYTES_PER_MIB = 1 << 20;
    private static final double BYTES_PER_KIB = 1 << 10;

    /** Collects the server's garbage first, or what it happens to have left lying would count. */
    static Footprint of(RunningServer server) throws IOException {
        long heap = server.liveHeapBytes();
        return new Footprint(server.memory().resident(), heap);
    }

    /** Figures of a server that has grown by {@code count} things. */
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
