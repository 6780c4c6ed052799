package io.caravan.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.caravan.StoreFailedException;
import io.caravan.WriteBatch;
import io.caravan.WriteCallback;
import io.caravan.heap.IndexedHeap;
import io.caravan.index.ListIndex;
import io.caravan.testing.StoreCalls;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** At most one flush is under way, step by step: whether it is the flusher or an event loop that asks for another. */
class OneFlushAtATimeTest {
    private long nanos;
    private final AtomicInteger wakes = new AtomicInteger();
    private final StoreState state =
            new StoreState("store", new ListIndex(), new IndexedHeap(), Threading.THREADS, () -> nanos);
    private final Commit first = new Commit(8192);
    private final FlushDemand demand = new FlushDemand(state, first, wakes::incrementAndGet, () -> nanos);

    private void write(WriteCallback callback) {
        first.add(callback, 0);
        demand.added(WriteBatch.BY_POLICY);
    }

    @Test
    void theFlusherDoesNotBeginWhatAnEventLoopHasBegun() {
        state.locked(() -> {
            demand.openGroup();
            write(StoreCalls.NOBODY);
            nanos += TimeUnit.MILLISECONDS.toNanos(2);
            assertThat(demand.hasWork()).as("the flusher gives the group up").isTrue();
            assertThat(demand.closeGroupAndBegin(demand.openGroup()))
                    .as("another event loop ends an empty group")
                    .isTrue();

            for (int i = 0; i < 3; i++) {
                assertThat(demand.beginFlush())
                        .as("the flusher begins one, too")
                        .isFalse();
                assertThat(demand.flushing())
                        .as("the loop's flush is under way")
                        .isTrue();
            }
            wakes.set(0);
            demand.endFlush();
            assertThat(wakes)
                    .as("what the flusher left alone is still to be flushed")
                    .hasValue(1);
            assertThat(demand.beginFlush()).isTrue();
        });
    }

    @Test
    void anEventLoopDoesNotBeginWhatTheFlusherHasBegun() {
        state.locked(() -> {
            long group = demand.openGroup();
            demand.requireForce();
            assertThat(demand.beginFlush()).isTrue();
            assertThat(demand.closeGroupAndBegin(group)).isFalse();
            assertThat(demand.flushing()).isTrue();
        });
    }

    @Test
    void onlyAFlushThatWasBegunEnds() {
        state.locked(() -> {
            assertThatIllegalStateException().isThrownBy(demand::endFlush);
            demand.requireForce();
            assertThat(demand.beginFlush()).isTrue();
            demand.endFlush();
            assertThatIllegalStateException().isThrownBy(demand::endFlush);
        });
    }

    /** Empty commits never reach the log's tail. */
    @Test
    void aCommitInFlightIsNotHandedOutToBeFilled() {
        CommitQueue queue = new CommitQueue(state, demand, null, first, new Commit(8192));
        state.locked(() -> {
            Commit inFlight = queue.seal();
            Commit filled = queue.active();
            assertThat(filled).isNotSameAs(inFlight);
            assertThatThrownBy(queue::seal)
                    .isInstanceOf(StoreFailedException.class)
                    .hasRootCauseMessage("a flush began while another had a commit in flight");
            assertThat(queue.active()).isSameAs(filled);
            assertThat(state.failure()).isNotNull();
        });
    }

    @Test
    void aReleasedCommitIsFilledAgain() {
        CommitQueue queue = new CommitQueue(state, demand, null, first, new Commit(8192));
        state.locked(() -> {
            Commit inFlight = queue.seal();
            queue.release(inFlight);
            queue.seal();
            assertThat(queue.active()).isSameAs(inFlight);
            assertThat(state.failure()).isNull();
        });
    }
}
