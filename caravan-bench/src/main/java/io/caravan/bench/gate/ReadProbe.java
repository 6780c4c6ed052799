package io.caravan.bench.gate;

import io.caravan.Durability;
import io.caravan.ListStore;
import io.caravan.bench.WorkDirectories;
import io.caravan.bench.engine.Stores;
import io.caravan.bench.engine.Workload;
import io.caravan.bench.report.HandFile;
import java.io.IOException;
import java.nio.MappedByteBuffer;
import java.nio.file.Path;
import java.util.zip.CRC32C;

/**
 * Measures the processor time in which one thread reads entire lists of small values from the heap, divided by that of
 * computing the checksum of as many bytes in a mapped file.
 */
final class ReadProbe implements Probe {
    private static final int LISTS = 50;
    private static final int VALUES = 1_000;
    private static final int TURNS = 20;

    private final ListStore store;
    private final HandFile file;
    private final MappedByteBuffer mapping;
    /** The number of bytes read and a checksum, which the compiler must not regard as unused. */
    private volatile long read;

    ReadProbe(Path directory) throws IOException {
        WorkDirectories.create(directory);
        Workload workload = Workload.small(1);
        store = new Stores(true).open(directory.resolve("store"), Durability.SYNC);
        int bytes = 0;
        for (int i = 0; i < LISTS * VALUES; i++) {
            store.append(i % LISTS, workload.value(i), Stores.NO_CALLBACK);
            bytes += workload.value(i).length;
        }
        store.checkpoint();
        file = new HandFile(directory.resolve("by-hand"));
        file.prepare(bytes);
        mapping = file.map(bytes);
        round();
    }

    @Override
    public double round() {
        return Costs.cpuNanos(TURNS, 1, turn -> readLists()) / Costs.cpuNanos(TURNS, 1, turn -> readMapping());
    }

    private void readLists() {
        for (int id = 0; id < LISTS; id++) {
            store.get(id, (sequence, value) -> {
                read += value.remaining();
                return true;
            });
        }
    }

    private void readMapping() {
        CRC32C crc = new CRC32C();
        crc.update(mapping.rewind());
        read += crc.getValue();
    }

    @Override
    public void close() throws IOException {
        store.close();
        file.close();
    }
}
