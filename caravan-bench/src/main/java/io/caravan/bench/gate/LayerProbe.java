package io.caravan.bench.gate;

import io.caravan.bench.engine.Workload;
import io.caravan.format.Checksums;
import io.caravan.format.EntryLayout;
import io.caravan.format.RecordLayout;
import io.caravan.format.Region;
import io.caravan.index.ListIndex;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.function.IntConsumer;

/**
 * Measures the processor time of one layer of an append in a plain loop, divided by that of a plain copy of the same
 * values.
 */
final class LayerProbe implements Probe {
    private static final int BATCH = 1_000;
    private static final int BATCHES = 50;
    private static final int BUFFER_BYTES = 4 << 20;

    private final IntConsumer layer;
    private final MemoryCopy copy;

    private LayerProbe(Workload workload, IntConsumer layer) {
        this.layer = layer;
        copy = new MemoryCopy(workload);
    }

    /** Consumes results, so that the compiler cannot eliminate the code that computes them. */
    private static final class Blackhole {
        private volatile int sum;
    }

    /** Returns a probe that computes the checksum of each value. */
    static LayerProbe checksum() {
        Workload workload = Workload.small(1);
        Blackhole hole = new Blackhole();
        return new LayerProbe(workload, i -> hole.sum = Checksums.crc32c(workload.value(i)));
    }

    /** Returns a probe that finds the list of each value and adds an entry to the list. */
    static LayerProbe index() {
        Workload workload = Workload.small(1);
        IndexLayer layer = new IndexLayer(workload);
        return new LayerProbe(workload, layer::append);
    }

    /** Returns a probe that encodes the log record of each value, including the value. */
    static LayerProbe record() {
        Workload workload = Workload.small(1);
        RecordLayer layer = new RecordLayer(workload);
        return new LayerProbe(workload, layer::put);
    }

    private static final class IndexLayer {
        /** Number of entries after which a new index is created, so that all rounds are alike. */
        private static final int MOST_ENTRIES = 500_000;

        private final Workload workload;
        private ListIndex index = new ListIndex();
        private int entries;

        IndexLayer(Workload workload) {
            this.workload = workload;
        }

        void append(int number) {
            if (entries++ == MOST_ENTRIES) {
                index = new ListIndex();
                entries = 0;
            }
            long id = workload.id(number);
            int found = index.find(id);
            int list = found == ListIndex.NONE ? index.create(id, number, 0) : found;
            index.append(list, Region.inLog(0, workload.value(number).length), number);
        }
    }

    private static final class RecordLayer {
        private final Workload workload;
        private final ByteBuffer buffer =
                ByteBuffer.allocateDirect(BUFFER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        private int end;

        RecordLayer(Workload workload) {
            this.workload = workload;
        }

        void put(int number) {
            byte[] value = workload.value(number);
            int bytes = RecordLayout.appendBytes(value.length);
            if (bytes > buffer.capacity() - end) {
                end = 0;
            }
            RecordLayout.putAppend(buffer, end, workload.id(number), number, number, value.length);
            buffer.put(end + RecordLayout.ENTRY + EntryLayout.VALUE, value, 0, value.length);
            end += bytes;
        }
    }

    @Override
    public double round() {
        return Costs.cpuNanos(BATCHES, BATCH, layer) / copy.nanos();
    }

    /** The minimum work of an append: copying its value into a buffer as large as a log buffer. */
    static final class MemoryCopy {
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
}
