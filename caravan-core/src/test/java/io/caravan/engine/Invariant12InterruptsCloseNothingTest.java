package io.caravan.engine;

import static io.caravan.testing.StoreCalls.NO_CALLBACK;
import static io.caravan.testing.StoreCalls.append;
import static io.caravan.testing.StoreCalls.await;
import static io.caravan.testing.StoreCalls.bytes;
import static io.caravan.testing.StoreCalls.texts;
import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.DurableListStore;
import io.caravan.ListStore;
import io.caravan.StoreConfig;
import io.caravan.VerifyReport;
import io.caravan.WriteCallback;
import io.caravan.testing.CallbackContract;
import io.caravan.testing.FaultStorage;
import io.caravan.testing.Faults;
import io.caravan.testing.InterruptContract;
import io.caravan.testing.LongTimeout;
import io.caravan.testing.MemoryStorage;
import io.caravan.testing.SmallStore;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiConsumer;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Invariant 12: user threads never do channel I/O, so an interrupt cannot close the files of the store. (The contract
 * tests each method on an interrupted thread. These tests cover opening, closing, and the threads themselves.)
 */
@LongTimeout
class Invariant12InterruptsCloseNothingTest {

    @TempDir
    private Path directory;

    private StoreConfig small() {
        return builder()
                .heapSegmentBytes(16 * 1024)
                .checkpointFloorBytes(32 * 1024)
                .build();
    }

    private StoreConfig.Builder builder() {
        return SmallStore.config(directory).logBufferBytes(8192).logSegmentBytes(16 * 1024);
    }

    /** Checks that a store can be opened, used, and closed three times on a thread that is always interrupted. */
    @Test
    void storeWorksOnInterruptedThread() {
        for (int round = 0; round < 3; round++) {
            Thread.currentThread().interrupt();
            DurableListStore store = DurableListStore.open(small());
            assertThat(Thread.currentThread().isInterrupted()).isTrue();
            for (int i = 0; i < 50; i++) {
                store.append(1, bytes(1000, i), NO_CALLBACK);
                store.append(2, bytes("value " + round + " " + i), NO_CALLBACK);
                store.trimTo(1, 20L * round, NO_CALLBACK);
            }
            store.flush();
            assertThat(store.read(2)).hasSize(50 * (round + 1));
            store.checkpoint();
            assertThat(store.verify(VerifyReport.Progress.NONE).faults()).isEmpty();
            store.close();
            assertThat(Thread.currentThread().isInterrupted()).isTrue();
            assertThat(Faults.of(directory)).isEmpty();
            assertThat(Thread.interrupted()).isTrue();
        }
        try (DurableListStore store = DurableListStore.open(small())) {
            assertThat(texts(store, 2)).hasSize(150).endsWith("149:value 2 49");
        }
    }

    @Test
    void storeWorksAfterAnyMethodOnInterruptedThread() {
        try (DurableListStore store = DurableListStore.open(small())) {
            for (var arguments : InterruptContract.allCalls().toList()) {
                @SuppressWarnings("unchecked")
                BiConsumer<ListStore, WriteCallback> call =
                        (BiConsumer<ListStore, WriteCallback>) arguments.get()[0];
                Thread.currentThread().interrupt();
                call.accept(store, NO_CALLBACK);
                assertThat(Thread.interrupted()).isTrue();
                append(store, 3, "goes on");
            }
            assertThat(store.read(3)).hasSize(19);
            assertThat(store.verify(VerifyReport.Progress.NONE).faults()).isEmpty();
        }
    }

    static Stream<Arguments> foreignCode() {
        return Stream.of(
                foreign("a callback", (store, code) -> store.append(1, bytes("a"), CallbackContract.onSuccess(code))),
                foreign("a future's dependent", (store, code) -> {
                    CompletableFuture<Long> future = new CompletableFuture<>();
                    CompletableFuture<Void> dependent = future.thenRun(code);
                    store.append(1, bytes("a"), WriteCallback.completing(future));
                    await(dependent);
                }),
                foreign(
                        "an action that waited for writability",
                        (store, code) -> CallbackContract.inCallback(store, () -> {
                            store.append(2, bytes(4000, 1), NO_CALLBACK);
                            store.append(2, bytes(3000, 1), NO_CALLBACK);
                            assertThat(store.writable()).isFalse();
                            store.onWritable(code);
                        })),
                foreign("the pressure listener", (store, code) -> {
                    onPressure.set(code);
                    for (int i = 0; i < 5; i++) {
                        append(store, 2, "x".repeat(4000));
                    }
                }));
    }

    private static final AtomicReference<Runnable> onPressure = new AtomicReference<>(() -> {});

    private static Arguments foreign(String name, BiConsumer<ListStore, Runnable> runs) {
        return Arguments.argumentSet(name, runs);
    }

    @ParameterizedTest
    @MethodSource("foreignCode")
    void interruptInUserCodeClosesNothing(BiConsumer<ListStore, Runnable> runs) {
        onPressure.set(() -> {});
        StoreConfig config = builder()
                .heapSegmentBytes(64 * 1024)
                .maxHeapBytes(64 * 1024)
                .heapPressure(
                        0.25, 1, (high, used, fragmentation) -> onPressure.get().run())
                .build();
        CompletableFuture<Thread> ranOn = new CompletableFuture<>();
        try (DurableListStore store = DurableListStore.open(config)) {
            runs.accept(store, () -> {
                Thread.currentThread().interrupt();
                ranOn.complete(Thread.currentThread());
            });
            assertThat(await(ranOn).getName()).startsWith("caravan-flusher");
            append(store, 3, "the store", "goes on");
            store.checkpoint();
            assertThat(store.stats().failures()).isZero();
        }
    }

    @Test
    void interruptInProgressListenerClosesNothing() {
        try (DurableListStore store = DurableListStore.open(small())) {
            append(store, 1, "a");
            assertThat(store.verify((step, done, total) ->
                                    Thread.currentThread().interrupt())
                            .faults())
                    .isEmpty();
            store.checkpoint();
        }
        assertThat(DurableListStore.verify(
                                directory,
                                (step, done, total) -> Thread.currentThread().interrupt())
                        .faults())
                .isEmpty();
    }

    /** Checks, based on thread names, that only the store's threads access file bytes while the store is open. */
    @Test
    void onlyStoreThreadsAccessFiles() throws Exception {
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
            engine.trim(i % 5, 1, NO_CALLBACK);
            engine.delete((i + 1) % 5, NO_CALLBACK);
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
