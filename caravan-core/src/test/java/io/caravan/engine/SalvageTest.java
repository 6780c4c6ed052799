package io.caravan.engine;

import static io.caravan.testing.StoreCalls.append;
import static io.caravan.testing.StoreCalls.bytes;
import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.SalvageReport;
import io.caravan.format.Blocks;
import io.caravan.inspect.Salvager;
import io.caravan.io.Storage;
import io.caravan.testing.Eventually;
import io.caravan.testing.FaultStorage;
import io.caravan.testing.FaultStorage.Hold;
import io.caravan.testing.FaultStorage.Kind;
import io.caravan.testing.MemoryStorage;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Salvages a store whose newest checkpoint ends inside a frame. */
class SalvageTest {
    private final List<String> losses = new ArrayList<>();

    /** Checks that, of a damaged frame, only the records that the checkpoint lacks are lost, and reported as lost. */
    @ParameterizedTest
    @CsvSource({"true, true", "true, false", "false, true", "false, false"})
    void reportsRecordsOfDamagedFrameThatCheckpointLacks(boolean theHeaderIsRight, boolean frameFollows)
            throws Exception {
        MemoryStorage disk = storeWithCheckpointInsideFrame(frameFollows);
        ByteBuffer log = disk.bytes("log-0000000000000000.wal");
        int at = FaultyStore.latin1(log).indexOf("after the checkpoint");
        log.put(at, new byte[4]);
        if (!theHeaderIsRight) {
            log.put(at / Blocks.BLOCK_BYTES * Blocks.BLOCK_BYTES, new byte[Blocks.BLOCK_BYTES]);
        }

        MemoryStorage salvaged = salvage(disk);

        assertThat(losses).isNotEmpty();
        try (Engine engine = Engine.open(FaultyStore.small().build(), salvaged, System::nanoTime)) {
            assertThat(engine.info(3)).as("in the checkpoint").isNotNull();
            assertThat(engine.info(4)).as("after the checkpoint").isNull();
        }
    }

    @Test
    void reportsNoLossOfIntactStoreWithCheckpointInsideFrame() throws Exception {
        salvage(storeWithCheckpointInsideFrame(false));

        assertThat(losses).isEmpty();
    }

    /** Returns a disk whose newest checkpoint has list 3 but not list 4, although one frame has both appends. */
    private static MemoryStorage storeWithCheckpointInsideFrame(boolean frameFollows) throws Exception {
        try (FaultyStore store = FaultyStore.open()) {
            append(store.engine, 1, "a");
            List<CompletableFuture<?>> writes = new ArrayList<>();
            FutureTask<Void> checkpoint = new FutureTask<>(store.engine::checkpoint, null);
            Hold create = store.faults.hold(FaultStorage.on(Kind.CREATE, FaultyStore.UNFINISHED_CHECKPOINT));
            new Thread(checkpoint, "checkpoint").start();
            create.awaitReached();
            try (Hold flush = store.faults.hold(FaultStorage.on(Kind.FORCE, FaultyStore.LOG))) {
                writes.add(store.engine.append(2, bytes("b")));
                flush.awaitReached();
                writes.add(store.engine.append(3, bytes("before the checkpoint")));
                create.release();
                Eventually.await("the checkpoint waits for the log", store.engine.queue::urgent);
                writes.add(store.engine.append(4, bytes("after the checkpoint")));
            }
            checkpoint.get();
            CompletableFuture.allOf(writes.toArray(CompletableFuture[]::new)).join();
            if (frameFollows) {
                append(store.engine, 5, "c");
            }
            return store.disk.processKill();
        }
    }

    private MemoryStorage salvage(Storage from) throws Exception {
        MemoryStorage to = new MemoryStorage();
        Salvager.salvage(from, to, new SalvageReport.Listener() {
            @Override
            public void at(String step, long done, long total) {}

            @Override
            public void lost(SalvageReport.Loss loss) {
                losses.add(loss.toString());
            }
        });
        return to;
    }
}
