package io.caravan.bench.engine;

import io.caravan.bench.engine.AppendLoop.Pace;
import io.caravan.bench.report.Charts;
import io.caravan.bench.report.Measurement;
import java.io.IOException;
import java.nio.ByteBuffer;

/** Copies the values to a memory buffer, and stores nothing. The speed of the copy is an upper bound for any store. */
final class CopiedValues {
    static final String SYSTEM = Charts.MACHINE + ", values copied in memory";
    static final String DURABILITY = "nothing stored";

    /** Size of the buffer, which is larger than the processor's caches. */
    private static final int BUFFER_BYTES = 64 << 20;

    private final Workload workload;
    private final AppendLoop loop;

    CopiedValues(Workload workload, int count, long limitNanos) {
        this.workload = workload;
        loop = new AppendLoop(workload, count, limitNanos);
    }

    Measurement run() throws IOException {
        Copy copy = new Copy();
        Pace pace = loop.run(copy);
        long nanos = System.nanoTime() - pace.startNanos();
        return new Measurement().rate(pace.appends(), workload.bytes(pace.appends()), nanos);
    }

    private static final class Copy implements AppendLoop.Target {
        private final ByteBuffer memory = ByteBuffer.allocateDirect(BUFFER_BYTES);

        Copy() {
            while (memory.hasRemaining()) {
                memory.putLong(0);
            }
        }

        @Override
        public void append(long id, byte[] value) {
            if (memory.remaining() < value.length) {
                memory.clear();
            }
            memory.put(value);
        }

        @Override
        public void endBatch() {}
    }
}
