package io.caravan.testing;

import static io.caravan.testing.StoreCalls.append;
import static io.caravan.testing.StoreCalls.await;
import static io.caravan.testing.StoreCalls.bytes;
import static io.caravan.testing.StoreCalls.each;
import static io.caravan.testing.StoreCalls.texts;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.caravan.CaravanException;
import io.caravan.ListStore;
import io.caravan.WriteBatch;
import io.caravan.WriteCallback;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests that each callback is called once, in order, on a store thread. Also tests which calls a callback may make. */
public interface CallbackContract extends ContractFixture {

    /** Returns a callback that runs the action on success. */
    static WriteCallback onSuccess(Runnable action) {
        return new WriteCallback() {
            @Override
            public void success(long sequence) {
                action.run();
            }

            @Override
            public void failure(CaravanException problem) {
                throw new AssertionError(problem);
            }
        };
    }

    /** Runs the action in a callback of the store, waits for the action, and rethrows its exception. */
    static void inCallback(ListStore store, Runnable action) {
        CompletableFuture<Void> done = new CompletableFuture<>();
        store.append(-1, bytes("x"), onSuccess(() -> {
            try {
                action.run();
                done.complete(null);
            } catch (Throwable thrown) {
                done.completeExceptionally(thrown);
            }
        }));
        await(done);
    }

    @Test
    default void callbacksRunOnceInOrderOfAcceptance() {
        Completions completions = new Completions();
        List<Completions.Completion> expected = new ArrayList<>();
        for (int i = 0; i < 300; i++) {
            startSomeWrite(i, completions.callback(i));
            expected.add(Completions.Completion.success(i, expectedSequence(i)));
        }
        assertThat(completions.await(300)).isEqualTo(expected);
        append(store(), 9, "completed after all other callbacks");
        assertThat(completions.all()).hasSize(300);
    }

    private void startSomeWrite(int turn, WriteCallback callback) {
        switch (turn % 5) {
            case 0 -> store().append(1, bytes("v" + turn), callback);
            case 1 -> store().write(WriteBatch.create().append(2, bytes("v" + turn)), callback);
            case 2 -> store().trim(1, 1, callback);
            case 3 -> store().trimTo(2, turn / 5, callback);
            default -> store().delete(3, callback);
        }
    }

    private static long expectedSequence(int turn) {
        int round = turn / 5;
        return switch (turn % 5) {
            case 0, 1, 3 -> round;
            case 2 -> round + 1;
            default -> -1;
        };
    }

    @Test
    default void callbackDoesNotRunOnCallerThread() {
        CompletableFuture<Thread> thread = new CompletableFuture<>();
        store().append(1, bytes("a"), onSuccess(() -> thread.complete(Thread.currentThread())));
        assertThat(await(thread)).isNotSameAs(Thread.currentThread());
    }

    @Test
    default void writeDoesNotWaitForEarlierCallbacks() {
        CountDownLatch release = new CountDownLatch(1);
        store().append(1, bytes("a"), onSuccess(() -> await(release, "the callback was not released")));
        Completions completions = new Completions();
        for (int i = 0; i < 10; i++) {
            store().append(1, bytes("b"), completions.callback(i));
        }
        assertThat(completions.all()).isEmpty();
        release.countDown();
        completions.await(10);
    }

    @Test
    default void exceptionInCallbackDoesNotAffectStore() {
        Completions completions = new Completions();
        store().append(1, bytes("a"), onSuccess(() -> {
            throw new IllegalStateException("a callback's own mistake, thrown on purpose");
        }));
        store().append(1, bytes("b"), completions.callback(1));
        store().append(1, bytes("c"), onSuccess(() -> {
            throw new AssertionError("an error of a callback, thrown on purpose");
        }));
        store().append(1, bytes("d"), completions.callback(2));
        assertThat(completions.await(2))
                .containsExactly(Completions.Completion.success(1, 1), Completions.Completion.success(2, 3));
        assertThat(texts(store(), 1)).containsExactly("0:a", "1:b", "2:c", "3:d");
        store().flush();
    }

    static Stream<Arguments> callsThatWait() {
        return Stream.of(
                call("get", store -> store.get(1, each((sequence, value) -> {}))),
                call("get from", store -> store.get(1, 0, each((sequence, value) -> {}))),
                call("get of a missing list", store -> store.get(77, each((sequence, value) -> {}))),
                call("read", store -> store.read(1)),
                call("read one", store -> store.readOne(1, 0)),
                call("get newest first", store -> store.getNewestFirst(1, 1, each((sequence, value) -> {}))),
                call("info", store -> store.info(1)),
                call("forEachList", store -> store.forEachList(id -> {})),
                call("flush", ListStore::flush),
                call("checkpoint", ListStore::checkpoint),
                call("close", ListStore::close));
    }

    private static Arguments call(String name, Consumer<ListStore> call) {
        return Arguments.argumentSet(name, call);
    }

    @ParameterizedTest
    @MethodSource("io.caravan.testing.CallbackContract#callsThatWait")
    default void blockingCallInCallbackIsRejected(Consumer<ListStore> call) {
        append(store(), 1, "a");
        List<Throwable> thrown = new ArrayList<>();
        inCallback(store(), () -> {
            try {
                call.accept(store());
            } catch (RuntimeException rejection) {
                thrown.add(rejection);
            }
        });
        assertThat(thrown).hasSize(1).first().isInstanceOf(IllegalStateException.class);
        assertThat(append(store(), 1, "b")).isEqualTo(1);
        assertThat(texts(store(), 1)).containsExactly("0:a", "1:b");
    }

    @Test
    default void callbackCanWriteToAnotherStoreButNotReadIt() {
        append(store(), 1, "a");
        Completions completions = new Completions();
        try (ListStore other = ListStore.inMemory()) {
            inCallback(other, () -> {
                assertThatIllegalStateException()
                        .as("it could wait for that one's threads, and they for these")
                        .isThrownBy(() -> texts(store(), 1));
                store().append(1, bytes("b"), completions.callback(1));
            });
        }
        assertThat(completions.await(1)).containsExactly(Completions.Completion.success(1, 1));
    }

    @Test
    default void callbackCanWriteWhenStoreIsWritable() {
        Completions completions = new Completions();
        inCallback(
                store(),
                () -> store().onWritable(() -> {
                    store().append(1, bytes("a"), completions.callback(1));
                    store().write(WriteBatch.create().append(1, bytes("b")), completions.callback(2));
                    store().trim(1, 1, completions.callback(3));
                    store().delete(2, completions.callback(4));
                }));
        assertThat(completions.await(4))
                .containsExactly(
                        Completions.Completion.success(1, 0),
                        Completions.Completion.success(2, 1),
                        Completions.Completion.success(3, 1),
                        Completions.Completion.success(4, -1));
        assertThat(texts(store(), 1)).containsExactly("1:b");
    }

    @Test
    default void chainedCallbacksWriteSequentially() {
        CountDownLatch written = new CountDownLatch(50);
        store().append(1, bytes("x"), onSuccess(() -> appendInTurn(written)));
        await(written, "not all were written");
        assertThat(store().info(1).nextSequence()).isEqualTo(51);
    }

    private void appendInTurn(CountDownLatch written) {
        if (written.getCount() > 0) {
            store().onWritable(() -> store().append(1, bytes("x"), onSuccess(() -> {
                written.countDown();
                appendInTurn(written);
            })));
        }
    }

    @Test
    default void callbackCanQueryStatsAndWritability() {
        inCallback(store(), () -> {
            assertThat(store().stats().internalWrites()).isPositive();
            assertThat(store().stats().name()).isNotEmpty();
            store().writable();
        });
    }

    @Test
    default void onWritableActionRunsOnce() {
        Completions runs = new Completions();
        store().onWritable(() -> runs.callback(1).success(0));
        runs.await(1);
        assertThat(store().writable()).isTrue();
        append(store(), 1, "a");
        store().flush();
        assertThat(runs.all()).hasSize(1);
    }

    /** Checks that the store becomes writable without another write, however full the log is when writes stop. */
    @Test
    default void idleStoreBecomesWritable() {
        for (int i = 0; i < 40; i++) {
            append(store(), 1, "x");
            CompletableFuture<Void> writable = new CompletableFuture<>();
            store().onWritable(() -> writable.complete(null));
            await(writable);
        }
    }
}
