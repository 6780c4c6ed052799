package io.caravan.bench.gate;

import io.caravan.bench.engine.Workload;
import java.nio.ByteBuffer;

/** The minimum work of an append: copies its value into a buffer that is as large as a log buffer. */
final class MemoryCopy {
    private static final int BUFFER_BYTES = 4 << 20;
    private static final int BATCH = 1_000;
    private static final int BATCHES = 50;

    private final Workload workload;
    private final ByteBuffer memory = ByteBuffer.allocateDirect(BUFFER_BYTES);

    MemoryCopy(Workload workload) {
        this.workload = workload;
    }

    /** Returns the processor time of one copy in the median batch, in nanoseconds. */
    double nanos() {
        return Costs.cpuNanos(BATCHES, BATCH, i -> {
            byte[] value = workload.value(i);
            if (memory.remaining() < value.length) {
                memory.clear();
            }
            memory.put(value);
        });
    }
}
