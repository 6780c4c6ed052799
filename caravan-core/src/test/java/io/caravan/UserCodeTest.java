package io.caravan;

import static io.caravan.testing.CallbackContract.onSuccess;
import static io.caravan.testing.StoreCalls.NO_CALLBACK;
import static io.caravan.testing.StoreCalls.append;
import static io.caravan.testing.StoreCalls.await;
import static io.caravan.testing.StoreCalls.bytes;
import static io.caravan.testing.StoreCalls.each;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.caravan.testing.LongTimeout;
import io.caravan.testing.SmallStore;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests every place where a store calls user code. An error in that code does not make the store fail, and the store
 * rejects waits in that code.
 */
@LongTimeout
class UserCodeTest {
    @TempDir
    Path directory;

    /** The action that the heap pressure listener runs, set by each test. */
    private final AtomicReference<Runnable> whenPressed = new AtomicReference<>(() -> {});

    private DurableListStore open() {
        return DurableListStore.open(SmallStore.config(directory.resolve("store"))
                .maxHeapBytes(1 << 20)
                .heapPressure(
                        0.001,
                        1,
                        (high, used, fragmentation) -> whenPressed.get().run())
                .build());
    }

    /** A place where user code runs on a thread of the store. */
    private interface Place {
        /** Runs the action at this place. Returns when the action has begun, or will begin without any further call. */
        void run(UserCodeTest test, DurableListStore store, Runnable action);
    }

    private static Map<String, Place> storeThreads() {
        Map<String, Place> places = new LinkedHashMap<>();
        places.put("append", (test, store, action) -> store.append(1, bytes("a"), onSuccess(action)));
        places.put(
                "append of a buffer",
                (test, store, action) -> store.append(1, ByteBuffer.wrap(bytes("a")), onSuccess(action)));
        places.put(
                "write",
                (test, store, action) -> store.write(WriteBatch.create().append(1, bytes("a")), onSuccess(action)));
        places.put(
                "tryWrite",
                (test, store, action) -> assertThat(
                                store.tryWrite(WriteBatch.create().append(1, bytes("a")), onSuccess(action)))
                        .isTrue());
        places.put("trim", (test, store, action) -> store.trim(1, 1, onSuccess(action)));
        places.put("trimTo", (test, store, action) -> store.trimTo(1, 1, onSuccess(action)));
        places.put("delete", (test, store, action) -> store.delete(1, onSuccess(action)));
        places.put("a write that a thread of the user flushes", (test, store, action) -> {
            CompletableFuture<Void> done = new CompletableFuture<>();
            new UninterruptibleThread(
                            () -> {
                                try {
                                    ListStore.WriteGroup group = store.group();
                                    store.append(1, bytes("a"), onSuccess(action));
                                    group.closeAndFlush();
                                    done.complete(null);
                                } catch (Throwable thrown) {
                                    done.completeExceptionally(thrown);
                                }
                            },
                            "loop")
                    .start();
            await(done);
        });
        places.put("onWritable", (test, store, action) -> {
            CompletableFuture<Void> left = new CompletableFuture<>();
            // This runs on the flusher. Nothing is flushed before it ends, so the action has to wait.
            store.append(1, bytes("a"), onSuccess(() -> {
                while (store.tryWrite(WriteBatch.create().append(1, bytes(1000, 1)), NO_CALLBACK)) {
                    // until the buffers of the log are full
                }
                store.onWritable(action);
                left.complete(null);
            }));
            await(left);
        });
        places.put("the listener of the heap's pressure", (test, store, action) -> {
            test.whenPressed.set(action);
            store.append(1, bytes(4_000, 1), NO_CALLBACK);
        });
        places.put("the progress of verify", (test, store, action) -> {
            AtomicBoolean first = new AtomicBoolean(true);
            try {
                store.verify((step, done, total) -> {
                    if (first.getAndSet(false)) {
                        action.run();
                    }
                });
            } catch (Error thrown) {
                assertThat(thrown).hasMessage("on purpose");
            }
        });
        return places;
    }

    /** Returns the calls that run user code on the caller's thread and rethrow that code's exceptions. */
    private static Map<String, Place> callersThreads() {
        Map<String, Place> places = new LinkedHashMap<>();
        places.put("get", (test, store, action) -> store.get(1, each((sequence, value) -> action.run())));
        places.put(
                "getNewestFirst",
                (test, store, action) -> store.getNewestFirst(1, 9, each((sequence, value) -> action.run())));
        places.put("forEachList", (test, store, action) -> store.forEachList(id -> action.run()));
        places.put(
                "acceptedLengths",
                (test, store, action) -> store.acceptedLengths(1, length -> {
                    action.run();
                    return true;
                }));
        places.put("an action that need not wait", (test, store, action) -> store.onWritable(action));
        places.put(
                "the progress of backup",
                (test, store, action) -> store.backup(test.directory.resolve("copy"), (done, total) -> action.run()));
        return places;
    }

    @SuppressWarnings("InfiniteRecursion") // on purpose
    private static int overflow(int depth) {
        return overflow(depth + 1) + 1;
    }

    private static Map<String, Supplier<Error>> errors() {
        Map<String, Supplier<Error>> errors = new LinkedHashMap<>();
        errors.put("an overflow of the stack", () -> {
            overflow(0);
            return new AssertionError();
        });
        errors.put("no memory", () -> new OutOfMemoryError("on purpose"));
        errors.put("an internal error", () -> new InternalError("on purpose"));
        errors.put("any error", () -> new Error("on purpose"));
        return errors;
    }

    static Stream<Arguments> placesAndErrors() {
        return storeThreads().entrySet().stream()
                .flatMap(place -> errors().entrySet().stream()
                        .filter(error -> !place.getKey().equals("the progress of verify")
                                || !error.getKey().equals("an overflow of the stack"))
                        .map(error -> Arguments.argumentSet(
                                place.getKey() + ": " + error.getKey(), place.getValue(), error.getValue())));
    }

    @ParameterizedTest
    @MethodSource("placesAndErrors")
    void userCodeErrorOnStoreThreadDoesNotFailStore(Place place, Supplier<Error> error) {
        try (DurableListStore store = open()) {
            append(store, 1, "before");
            CompletableFuture<Void> ran = new CompletableFuture<>();
            place.run(this, store, () -> {
                ran.complete(null);
                throw error.get();
            });
            CompletableFuture<Long> following = new CompletableFuture<>();
            store.append(2, bytes("behind"), WriteCallback.completing(following));
            await(ran);
            assertThat(await(following)).isZero();
            store.checkpoint();
            append(store, 2, "after");
            assertThat(store.read(2)).hasSize(2);
            assertThat(store.stats().failures()).isZero();
        }
    }

    static Stream<Arguments> calls() {
        return callersThreads().entrySet().stream()
                .map(place -> Arguments.argumentSet(place.getKey(), place.getValue()));
    }

    @ParameterizedTest
    @MethodSource("calls")
    void userCodeErrorOnCallerThreadIsThrown(Place place) {
        try (DurableListStore store = open()) {
            append(store, 1, "before");
            assertThatThrownBy(() -> place.run(this, store, () -> {
                        throw new Error("on purpose");
                    }))
                    .hasMessage("on purpose");
            store.checkpoint();
            append(store, 1, "after");
            assertThat(store.stats().pinnedReaders()).isZero();
            assertThat(store.stats().failures()).isZero();
        }
    }

    @Test
    void futureCompletesWhenExecutorThrows() {
        StoreConfig config = SmallStore.config(directory.resolve("store"))
                .futureExecutor(task -> {
                    throw new Error("on purpose");
                })
                .build();
        try (DurableListStore store = DurableListStore.open(config)) {
            CompletableFuture<Long> first = store.append(1, bytes("a"));
            assertThat(await(first)).isZero();
            assertThat(await(store.append(1, bytes("b")))).isOne();
            assertThat(store.stats().failures()).isZero();
        }
    }

    private static Map<String, Consumer<DurableListStore>> waits(Path target) {
        Map<String, Consumer<DurableListStore>> waits = new LinkedHashMap<>();
        waits.put("read", store -> store.read(1));
        waits.put("readOne", store -> store.readOne(1, 0));
        waits.put("readNewestFirst", store -> store.readNewestFirst(1, 1, 1));
        waits.put("get", store -> store.get(1, each((sequence, value) -> {})));
        waits.put("info", store -> store.info(1));
        waits.put("forEachList", store -> store.forEachList(id -> {}));
        waits.put("flush", ListStore::flush);
        waits.put("checkpoint", ListStore::checkpoint);
        waits.put("close", ListStore::close);
        waits.put("verify", store -> store.verify(VerifyReport.Progress.NONE));
        waits.put("backup", store -> store.backup(target, BackupReport.Progress.NONE));
        waits.put("join of append", store -> store.append(3, bytes("x")).join());
        waits.put(
                "join of write",
                store -> store.write(WriteBatch.create().append(3, bytes("x"))).join());
        waits.put("join of trim", store -> store.trim(3, 1).join());
        waits.put("join of trimTo", store -> store.trimTo(3, 1).join());
        waits.put("join of delete", store -> store.delete(3).join());
        waits.put("get of a future", store -> unchecked(store.append(3, bytes("x"))::get));
        waits.put(
                "get of a future, for a while",
                store -> unchecked(() -> store.append(3, bytes("x")).get(1, TimeUnit.DAYS)));
        waits.put(
                "join of a dependent",
                store -> store.append(3, bytes("x"))
                        .thenApply(sequence -> sequence + 1)
                        .thenCompose(next -> store.append(3, bytes("y")))
                        .join());
        waits.put(
                "join with a time limit",
                store -> store.append(3, bytes("x")).orTimeout(1, TimeUnit.DAYS).join());
        waits.put("join of a copy", store -> store.append(3, bytes("x")).copy().join());
        return waits;
    }

    private static void unchecked(Callable<?> call) {
        try {
            call.call();
        } catch (RuntimeException rejected) {
            throw rejected;
        } catch (ExecutionException noSpace) {
            throw new CompletionException(noSpace.getCause());
        } catch (Exception other) {
            throw new AssertionError(other);
        }
    }

    static Stream<Arguments> places() {
        return storeThreads().entrySet().stream().map(place -> Arguments.argumentSet(place.getKey(), place.getValue()));
    }

    @ParameterizedTest
    @MethodSource("places")
    void rejectsWaitsOnStoreThreads(Place place) {
        try (DurableListStore store = open()) {
            append(store, 1, "before");
            CompletableFuture<List<String>> notRejected = new CompletableFuture<>();
            // Prevents futures from completing before the waits: waiting for a completed future is allowed.
            store.futureExecutor().execute(() -> await(notRejected));
            place.run(this, store, () -> {
                // The place may have filled the buffers of the log. Then an append fails for lack of space.
                List<String> wrong = new ArrayList<>();
                waits(directory.resolve("copy")).forEach((name, wait) -> {
                    Throwable thrown = catchThrowable(() -> wait.accept(store));
                    if (!(thrown instanceof IllegalStateException)
                            && !(thrown != null && thrown.getCause() instanceof NotWritableException)) {
                        wrong.add(name + ": " + thrown);
                    }
                });
                notRejected.complete(wrong);
            });
            append(store, 2, "behind");
            assertThat(await(notRejected)).isEmpty();
            append(store, 2, "after");
            assertThat(store.read(2)).hasSize(2);
        }
    }

    @Test
    void memoryStoreRejectsFutureWaitsInCallback() {
        try (ListStore store = ListStore.inMemory()) {
            CompletableFuture<Throwable> thrown = new CompletableFuture<>();
            // Keeps the future from completing on its other thread: waiting for a completed future is allowed.
            store.futureExecutor().execute(() -> await(thrown));
            store.append(
                    1,
                    bytes("a"),
                    onSuccess(() -> thrown.complete(
                            catchThrowable(() -> store.append(1, bytes("b")).join()))));
            assertThat(await(thrown)).isInstanceOf(IllegalStateException.class).hasMessageContaining("thenCompose");
        }
    }

    @Test
    void replicaRejectsWaitsInCallback() {
        StoreConfig config = SmallStore.config(directory.resolve("replica"))
                .durability(Durability.PROCESS)
                .build();
        try (Replica replica = Replica.open(config, 7, 0)) {
            replica.lead(frame -> {});
            CompletableFuture<List<Throwable>> thrown = new CompletableFuture<>();
            replica.store()
                    .append(
                            1,
                            bytes("a"),
                            onSuccess(() -> thrown.complete(List.of(
                                    catchThrowable(replica::fsync),
                                    catchThrowable(replica::close),
                                    catchThrowable(() -> replica.lead(frame -> {})),
                                    catchThrowable(() -> replica.send(piece -> {}, BackupReport.Progress.NONE))))));
            assertThat(await(thrown)).hasSize(4).allMatch(IllegalStateException.class::isInstance);
            assertThat(append(replica.store(), 1, "b")).isOne();
        }
    }
}
