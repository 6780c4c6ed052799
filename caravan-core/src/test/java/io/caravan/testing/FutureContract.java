package io.caravan.testing;

import static io.caravan.testing.StoreCalls.NO_CALLBACK;
import static io.caravan.testing.StoreCalls.append;
import static io.caravan.testing.StoreCalls.await;
import static io.caravan.testing.StoreCalls.bytes;
import static io.caravan.testing.StoreCalls.texts;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.caravan.SequenceConflictException;
import io.caravan.StoreClosedException;
import io.caravan.ValueTooLargeException;
import io.caravan.WriteBatch;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** Tests the futures of writes: their results, their order, and the calls that dependent stages may make. */
public interface FutureContract extends ContractFixture {

    @Test
    default void futureCompletesWithResultOfWrite() {
        assertThat(await(store().append(1, bytes("a")))).isEqualTo(0);
        assertThat(await(store().write(WriteBatch.create().append(1, bytes("b")).append(1, bytes("c")))))
                .isEqualTo(2);
        assertThat(await(store().trim(1, 1))).isEqualTo(1);
        assertThat(await(store().trimTo(1, 2))).isEqualTo(2);
        assertThat(texts(store(), 1)).containsExactly("2:c");
        assertThat(await(store().delete(1))).isEqualTo(-1);
        assertThat(store().info(1)).isNull();
    }

    @Test
    default void futureFailsWhenWriteIsRejected() {
        append(store(), 1, "a");
        assertThatThrownBy(() -> await(store().append(1, bytes(maxValueBytes() + 1, 0))))
                .isInstanceOf(ValueTooLargeException.class);
        assertThatThrownBy(() -> await(store().write(WriteBatch.create().expect(1, 7))))
                .isInstanceOf(SequenceConflictException.class);
    }

    @Test
    @SuppressWarnings("NullAway")
    default void invalidArgumentsThrowInsteadOfFailingFuture() {
        assertThatNullPointerException().isThrownBy(() -> store().append(1, (byte[]) null));
        assertThatNullPointerException().isThrownBy(() -> store().write(null));
        assertThatIllegalArgumentException().isThrownBy(() -> store().trim(1, -1));
        assertThatIllegalArgumentException().isThrownBy(() -> store().trimTo(1, -1));
    }

    @Test
    default void futureFailsWhenStoreIsClosed() {
        store().close();
        List<CompletableFuture<Long>> futures = List.of(
                store().append(1, bytes("a")),
                store().write(WriteBatch.create()),
                store().trim(1, 1),
                store().trimTo(1, 1),
                store().delete(1));
        for (CompletableFuture<Long> rejected : futures) {
            assertThatThrownBy(() -> await(rejected)).isInstanceOf(StoreClosedException.class);
        }
    }

    @Test
    default void dependentStageCanReadStoreAndFlush() {
        CompletableFuture<List<String>> read =
                onFutureThread(() -> store().append(1, bytes("a")).thenApply(sequence -> {
                    store().append(1, bytes("b"), NO_CALLBACK);
                    store().flush();
                    store().checkpoint();
                    return texts(store(), 1);
                }));
        assertThat(await(read)).containsExactly("0:a", "1:b");
    }

    @Test
    default void dependentStageCanComposeFurtherWrites() {
        CompletableFuture<Long> third = store().append(1, bytes("a"))
                .thenCompose(first -> store().append(1, bytes("b")))
                .thenCompose(second -> store().append(1, bytes("c")));
        assertThat(await(third)).isEqualTo(2);
    }

    /** Checks that a dependent stage cannot wait for another future, which would need the same thread. */
    @Test
    default void dependentStageCannotWaitForAnotherFuture() {
        CompletableFuture<Long> waits = onFutureThread(() -> store().append(1, bytes("a"))
                .thenApply(sequence -> store().append(1, bytes("b")).join()));
        assertThatThrownBy(() -> await(waits))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("thenCompose");
        assertThat(append(store(), 1, "c")).isEqualTo(2);
    }

    @Test
    default void futuresCompleteInOrderOfAcceptance() {
        List<Integer> completed = new ArrayList<>();
        await(onFutureThread(() -> {
            CompletableFuture<?> last = CompletableFuture.completedFuture(null);
            for (int i = 0; i < 100; i++) {
                int number = i;
                last = store().append(i % 3, bytes("x")).thenRun(() -> completed.add(number));
            }
            return last;
        }));
        assertThat(completed).hasSize(100).isSorted();
    }

    /**
     * Runs dependent stages on the thread that completes futures. If a future were already complete, they would run on
     * the calling thread.
     */
    private <T> T onFutureThread(Supplier<T> dependents) {
        CountDownLatch start = new CountDownLatch(1);
        store().futureExecutor().execute(() -> await(start, "the dependents were not added"));
        try {
            return dependents.get();
        } finally {
            start.countDown();
        }
    }

    @Test
    default void slowDependentStageDoesNotDelayWrites() {
        CountDownLatch release = new CountDownLatch(1);
        CompletableFuture<Void> slow = onFutureThread(
                () -> store().append(1, bytes("a")).thenRun(() -> await(release, "the dependent was not released")));
        for (int i = 0; i < 10; i++) {
            StoreCalls.awaitWrite(reported -> store().append(1, bytes("b"), reported));
        }
        assertThat(texts(store(), 1)).hasSize(11);
        assertThat(slow).isNotDone();
        release.countDown();
        await(slow);
    }

    @Test
    default void closeCompletesFuturesAndRunsDependentStages() {
        List<CompletableFuture<String>> dependents = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            dependents.add(store().append(i, bytes("x")).thenApply(sequence -> "done"));
        }
        store().close();
        assertThat(dependents).allSatisfy(dependent -> assertThat(dependent).isCompletedWithValue("done"));
    }

    @Test
    default void dependentStageCanCloseStore() {
        await(onFutureThread(() -> store().append(1, bytes("a")).thenRun(() -> store().close())));
        closeAndReopen();
        if (durable()) {
            assertThat(texts(store(), 1)).containsExactly("0:a");
        }
    }
}
