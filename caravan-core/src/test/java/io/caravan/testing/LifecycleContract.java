package io.caravan.testing;

import static io.caravan.testing.InterruptContract.call;
import static io.caravan.testing.StoreCalls.NO_CALLBACK;
import static io.caravan.testing.StoreCalls.append;
import static io.caravan.testing.StoreCalls.await;
import static io.caravan.testing.StoreCalls.awaitWrite;
import static io.caravan.testing.StoreCalls.bytes;
import static io.caravan.testing.StoreCalls.texts;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.caravan.CaravanException;
import io.caravan.ListStore;
import io.caravan.StoreClosedException;
import io.caravan.StoreStats;
import io.caravan.WriteBatch;
import io.caravan.WriteCallback;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests flush, checkpoint, and close, and the contents after each of them. */
public interface LifecycleContract extends ContractFixture {

    @Test
    default void newStoreIsEmptyAndBecomesWritable() {
        assertThat(StoreContents.of(store()).lists()).isEmpty();
        CompletableFuture<Void> writable = new CompletableFuture<>();
        store().onWritable(() -> writable.complete(null));
        await(writable);
        assertThat(store().stats().lists()).isEqualTo(0);
        assertThat(store().stats().failures()).isEqualTo(0);
    }

    @Test
    default void unusedStoreCanBeClosedAndReopened() {
        closeAndReopen();
        assertThat(append(store(), 1, "a")).isEqualTo(0);
    }

    @Test
    default void flushAndCheckpointWorkAtAnyTime() {
        store().flush();
        store().checkpoint();
        store().checkpoint();
        append(store(), 1, "a");
        store().flush();
        store().flush();
        store().checkpoint();
        store().append(1, bytes("b"), NO_CALLBACK);
        store().checkpoint();
        assertThat(texts(store(), 1)).containsExactly("0:a", "1:b");
    }

    /** Checks that a full, fsynced log segment may be recycled before anything else is written. */
    @Test
    default void consecutiveCheckpointsAreHarmless() {
        for (int i = 0; i < 40; i++) {
            assertThat(append(store(), 1, "x")).isEqualTo(i);
            store().checkpoint();
            store().checkpoint();
        }
    }

    @Test
    default void closeIsIdempotent() {
        append(store(), 1, "a");
        store().close();
        store().close();
    }

    @Test
    default void severalThreadsCanCloseConcurrently() {
        Completions completions = new Completions();
        for (int i = 0; i < 50; i++) {
            store().append(1, bytes("x"), completions.callback(i));
        }
        try (Crew crew = new Crew()) {
            for (int i = 0; i < 3; i++) {
                crew.add(() -> {
                    store().close();
                    assertThat(completions.all()).hasSize(50);
                });
            }
            crew.run();
        }
    }

    @Test
    default void closeRunsEveryCallbackBeforeReturning() {
        Completions completions = new Completions();
        for (int i = 0; i < 200; i++) {
            store().append(i, bytes("x"), completions.callback(i));
        }
        store().close();
        assertThat(completions.all()).hasSize(200).allMatch(completion -> completion.sequence() == 0);
    }

    static Stream<Arguments> callsOfAClosedStore() {
        Set<String> notRejected = Set.of("append future", "stats");
        return Stream.concat(
                InterruptContract.allCalls().filter(call -> !notRejected.contains(call.getName())),
                Stream.of(
                        call("append empty", (store, callback) -> store.append(1, bytes(""), callback)),
                        call("append too much", (store, callback) -> store.append(1, new byte[1 << 20], callback)),
                        call("write empty", (store, callback) -> store.write(WriteBatch.create(), callback)),
                        call("trim missing", (store, callback) -> store.trim(77, 1, callback)),
                        call("read one", (store, callback) -> store.readOne(1, 0))));
    }

    @ParameterizedTest
    @MethodSource("io.caravan.testing.LifecycleContract#callsOfAClosedStore")
    default void closedStoreRejectsCalls(BiConsumer<ListStore, WriteCallback> call) {
        append(store(), 1, "a");
        ListStore closed = store();
        closed.close();
        Completions completions = new Completions();
        assertThatExceptionOfType(StoreClosedException.class)
                .isThrownBy(() -> call.accept(closed, completions.callback(1)));
        closed.close();
        assertThat(completions.all()).isEmpty();
    }

    @Test
    default void closedStoreReportsStats() {
        append(store(), 1, "a", "b");
        store().close();
        assertThat(store().stats().appends()).isEqualTo(2);
        assertThat(store().stats().name()).isNotEmpty();
    }

    @Test
    default void writeByCallbackDuringCloseCompletesOrIsRejected() {
        CompletableFuture<String> outcome = new CompletableFuture<>();
        for (int i = 0; i < 50; i++) {
            store().append(1, bytes("x"), NO_CALLBACK);
        }
        store().append(1, bytes("last"), CallbackContract.onSuccess(() -> {
            try {
                store().append(2, bytes("after"), CallbackContract.onSuccess(() -> outcome.complete("acknowledged")));
            } catch (CaravanException rejection) {
                outcome.complete(rejection.getClass().getSimpleName());
            }
        }));
        store().close();
        assertThat(outcome).isDone();
        assertThat(await(outcome)).isIn("acknowledged", "StoreClosedException");
    }

    @Test
    default void writesRacingWithCloseSucceedOrAreRejected() {
        Completions completions = new Completions();
        long[] accepted = new long[3];
        try (Crew crew = new Crew()) {
            for (int i = 0; i < accepted.length; i++) {
                int writer = i;
                crew.add(() -> accepted[writer] = appendUntilClosed(writer, completions));
            }
            crew.start();
            completions.await(20);
            store().close();
            crew.await();
        }
        assertThat(completions.all()).hasSize((int) (accepted[0] + accepted[1] + accepted[2]));
        assertThat(completions.all()).allMatch(completion -> completion.problem() == null);
        closeAndReopen();
        if (durable()) {
            for (int i = 0; i < accepted.length; i++) {
                assertThat(nextSequence(i)).isEqualTo(accepted[i]);
            }
        }
    }

    private long appendUntilClosed(int id, Completions completions) {
        long accepted = 0;
        while (true) {
            try {
                store().append(id, bytes("x"), completions.callback(id));
                accepted++;
            } catch (StoreClosedException closed) {
                return accepted;
            }
        }
    }

    @Test
    default void readsRacingWithCloseAreCorrectOrRejected() {
        append(store(), 1, "a", "b", "c");
        CompletableFuture<Void> reading = new CompletableFuture<>();
        try (Crew crew = new Crew()) {
            crew.add(() -> readUntilClosed(reading));
            crew.add(() -> readUntilClosed(reading));
            crew.start();
            await(reading);
            store().close();
            crew.await();
        }
    }

    private void readUntilClosed(CompletableFuture<Void> reading) {
        try {
            while (true) {
                assertThat(texts(store(), 1)).containsExactly("0:a", "1:b", "2:c");
                reading.complete(null);
            }
        } catch (StoreClosedException closed) {
            return;
        }
    }

    @Test
    default void statsCountAcceptedAndRejectedWrites() {
        StoreStats before = store().stats();
        append(store(), 1, "a", "bb");
        awaitWrite(reported -> store().write(
                        WriteBatch.create()
                                .append(2, bytes("ccc"))
                                .append(3, bytes(""))
                                .trimTo(1, 1)
                                .delete(3),
                        reported));
        awaitWrite(reported -> store().trim(1, 0, reported));
        awaitWrite(reported -> store().trimTo(77, 1, reported));
        awaitWrite(reported -> store().delete(77, reported));
        Completions completions = new Completions();
        assertThatThrownBy(() -> store().append(1, bytes(maxValueBytes() + 1, 0), completions.callback(1)));
        assertThatThrownBy(() -> store().write(WriteBatch.create().expect(1, 9), completions.callback(2)));

        StoreStats after = store().stats();
        assertThat(after.appends() - before.appends()).isEqualTo(4);
        assertThat(after.appendedBytes() - before.appendedBytes()).isEqualTo(6);
        assertThat(after.trims() - before.trims()).isEqualTo(3);
        assertThat(after.deletes() - before.deletes()).isEqualTo(2);
        assertThat(after.rejections() - before.rejections()).isEqualTo(2);
        assertThat(after.lists()).isEqualTo(2);
    }

    @Test
    default void reopenedStoreKeepsContents() {
        assumeTrue(durable());
        append(store(), 1, "a", "", "c");
        append(store(), 2, "x", "y");
        append(store(), 3, "gone");
        awaitWrite(reported -> store().trim(1, 1, reported));
        awaitWrite(reported -> store().trim(2, 2, reported));
        awaitWrite(reported -> store().delete(3, reported));
        store().append(4, bytes(maxValueBytes(), 4), NO_CALLBACK);
        StoreContents before = StoreContents.of(store());

        closeAndReopen();

        assertThat(StoreContents.of(store())).isEqualTo(before);
        assertThat(append(store(), 1, "d")).isEqualTo(3);
        assertThat(append(store(), 2, "z")).isEqualTo(2);
        assertThat(append(store(), 3, "new")).isEqualTo(0);
    }

    @Test
    default void storeKeepsContentsAcrossManyReopenings() {
        assumeTrue(durable());
        for (int i = 0; i < 5; i++) {
            assertThat(append(store(), 1, "v" + i)).isEqualTo(i);
            if (i % 2 == 0) {
                store().checkpoint();
            }
            closeAndReopen();
            assertThat(texts(store(), 1)).hasSize(i + 1);
        }
    }
}
