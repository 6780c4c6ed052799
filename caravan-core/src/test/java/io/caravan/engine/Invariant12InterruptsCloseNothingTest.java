package io.caravan.engine;

import static io.caravan.testing.StoreCalls.NOBODY;
import static io.caravan.testing.StoreCalls.append;
import static io.caravan.testing.StoreCalls.bytes;
import static io.caravan.testing.StoreCalls.texts;
import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.DurableListStore;
import io.caravan.ListStore;
import io.caravan.StoreConfig;
import io.caravan.VerifyReport;
import io.caravan.WriteCallback;
import io.caravan.testing.FaultStorage;
import io.caravan.testing.InterruptContract;
import io.caravan.testing.MemoryStorage;
import io.caravan.testing.Patient;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Invariant 12: no thread of the user's ever does channel I/O, so an interrupt cannot close the store's files. (Each
 * method on an interrupted thread is a test of the contract's; here are opening, closing, and the threads themselves.)
 */
@Patient
class Invariant12InterruptsCloseNothingTest {

    @TempDir
    private Path directory;

    private StoreConfig small() {
        return StoreConfig.builder(directory)
                .maxValueBytes(4096)
                .logBufferBytes(8192)
                .logSegmentBytes(16 * 1024)
                .heapSegmentBytes(16 * 1024)
                .checkpointFloorBytes(32 * 1024)
                .build();
    }

    /** One life after another, all of it on a thread that is interrupted all the time. */
    @Test
    void aStoreLivesItsWholeLifeOnAnInterruptedThread() {
        for (int life = 0; life < 3; life++) {
            Thread.currentThread().interrupt();
            DurableListStore store = DurableListStore.open(small());
            assertThat(Thread.currentThread().isInterrupted()).isTrue();
            for (int i = 0; i < 50; i++) {
                store.append(1, bytes(1000, i), NOBODY);
                store.append(2, bytes("value " + life + " " + i), NOBODY);
                store.trimTo(1, 20L * life, NOBODY);
            }
            store.flush();
            assertThat(store.read(2)).hasSize(50 * (life + 1));
            store.checkpoint();
            assertThat(store.verify(VerifyReport.Progress.NONE).faults()).isEmpty();
            store.close();
            assertThat(Thread.currentThread().isInterrupted()).isTrue();
            assertThat(DurableListStore.verify(directory, VerifyReport.Progress.NONE)
                            .faults())
                    .isEmpty();
            assertThat(Thread.interrupted()).isTrue();
        }
        try (DurableListStore store = DurableListStore.open(small())) {
            assertThat(texts(store, 2)).hasSize(150).endsWith("149:value 2 49");
        }
    }

    @Test
    void everyMethodOnAnInterruptedThreadLeavesTheStoreWorking() {
        try (DurableListStore store = DurableListStore.open(small())) {
            for (var arguments : InterruptContract.allCalls().toList()) {
                @SuppressWarnings("unchecked")
                BiConsumer<ListStore, WriteCallback> call =
                        (BiConsumer<ListStore, WriteCallback>) arguments.get()[0];
                Thread.currentThread().interrupt();
                call.accept(store, NOBODY);
                assertThat(Thread.interrupted()).isTrue();
                append(store, 3, "goes on");
            }
            assertThat(store.read(3)).hasSize(17);
            assertThat(store.verify(VerifyReport.Progress.NONE).faults()).isEmpty();
        }
    }

    /** By the names of the threads: all that touches a file's bytes, while the store is open, is the store's own. */
    @Test
    void onlyStoreThreadsTouchFiles() throws Exception {
        Set<String> threads = ConcurrentHashMap.newKeySet();
        FaultStorage watched = new FaultStorage(new MemoryStorage());
        Engine engine = Engine.open(FaultyStore.small().build(), watched, System::nanoTime);
        Predicate<FaultStorage.Call> watch = call -> {
            if (call.kind() != FaultStorage.Kind.CLOSE) {
                threads.add(Thread.currentThread().getName());
            }
            return false;
        };
        watched.fail(watch);
        for (int i = 0; i < 40; i++) {
            append(engine, i % 5, "x".repeat(1000));
            engine.trim(i % 5, 1, NOBODY);
            engine.delete((i + 1) % 5, NOBODY);
            texts(engine, i % 5);
            engine.info(i % 5);
            engine.stats();
        }
        engine.checkpoint();
        engine.flush();
        engine.close();
        assertThat(threads)
                .contains("caravan-flusher memory", "caravan-checkpointer memory")
                .allMatch(name -> name.startsWith("caravan-"));
    }
}
