package io.caravan.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.format.FrameLayout;
import io.caravan.testing.StoreCalls;
import io.caravan.wal.LogScanner;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Checks, step by step, that at most one flush is in progress, whether the flusher or an event loop requests another.
 */
class OneFlushAtATimeTest {
    private long nanos;
    private final AtomicInteger wakes = new AtomicInteger();
    private StoreState state;
    private CommitQueue queue;

    /** Creates the components of an engine that decide when to flush. They have no log, so no frame is placed. */
    @BeforeEach
    void open() throws Exception {
        state = FaultyStore.stateOf(FaultyStore.small().build(), () -> nanos, wakes::incrementAndGet);
        queue = new CommitQueue(state, null, new LogScanner.End(0, FrameLayout.Link.NONE, 0, false), 0);
        state.lock.lock();
    }

    @AfterEach
    void letGo() {
        state.lock.unlock();
    }

    private void write() {
        queue.add(StoreCalls.NO_CALLBACK, 0, Commit.USUAL_TERMS);
    }

    @Test
    void flusherStartsNoFlushDuringEventLoopFlush() {
        long group = queue.openGroup();
        write();
        assertThat(queue.closeGroup(group, true)).as("an event loop flushes").isTrue();
        Commit flushed = queue.beginFlush();
        assertThat(flushed).isNotNull();

        write();
        assertThat(queue.beginFlush()).as("the flusher begins one, too").isNull();
        assertThat(queue.flushing()).as("the loop's flush is in progress").isTrue();
        wakes.set(0);
        queue.endFlush(flushed);
        assertThat(wakes)
                .as("what the flusher left alone is still to be flushed")
                .hasValue(1);
        assertThat(queue.beginFlush()).isNotNull();
    }

    @Test
    void eventLoopStartsNoFlushDuringFlusherFlush() {
        long group = queue.openGroup();
        queue.requireForce();
        assertThat(queue.beginFlush()).isNotNull();
        write();
        queue.closeGroup(group, false);
        assertThat(queue.beginFlush()).isNull();
    }

    @Test
    void flusherStopsWaitingForGroupThatStaysOpen() {
        long group = queue.openGroup();
        write();
        assertThat(queue.hasWork()).as("the group may add to it").isFalse();
        nanos += TimeUnit.MILLISECONDS.toNanos(2);
        assertThat(queue.hasWork()).isTrue();
        assertThat(queue.closeGroup(group, true)).as("it no longer counts").isFalse();
    }

    @Test
    void flusherRestsUntilEventLoopFlushEnds() {
        long group = queue.openGroup();
        write();
        assertThat(queue.closeGroup(group, true)).isTrue();
        Commit flushed = queue.beginFlush();
        write();
        nanos += TimeUnit.MILLISECONDS.toNanos(2);
        assertThat(queue.hasWork()).isFalse();
        assertThat(queue.restNanos()).isEqualTo(Worker.UNTIL_WOKEN);
        wakes.set(0);
        queue.endFlush(flushed);
        assertThat(wakes).hasValue(1);
    }

    /** Checks that the flusher rests during a flush, because it cannot abandon groups then, and must not poll them. */
    @Test
    void flusherRestsUntilFlushEndsWhenGroupStaysOpen() {
        write();
        Commit flushed = queue.beginFlush();
        queue.openGroup();
        write();
        assertThat(queue.hasWork()).isFalse();
        assertThat(queue.restNanos()).isEqualTo(TimeUnit.MILLISECONDS.toNanos(1));
        nanos += TimeUnit.MILLISECONDS.toNanos(2);
        assertThat(queue.hasWork()).isFalse();
        assertThat(queue.restNanos()).isEqualTo(Worker.UNTIL_WOKEN);
        wakes.set(0);
        queue.endFlush(flushed);
        assertThat(wakes).hasValue(1);
        assertThat(queue.hasWork()).isTrue();
    }

    /** Checks that the next write wakes the flusher after a flush was requested when there was nothing to flush. */
    @Test
    void nextWriteWakesFlusherAfterEmptyFlushRequest() {
        queue.requireFlush();
        wakes.set(0);
        write();
        assertThat(wakes).hasValue(1);
    }

    @Test
    void requiredFsyncRunsOnceEvenWithoutWrites() {
        queue.requireForce();
        queue.requireFlush();
        Commit forced = queue.beginFlush();
        assertThat(forced.fsyncRequested()).isTrue();
        write();
        queue.endFlush(forced);
        assertThat(queue.beginFlush().fsyncRequested()).isFalse();
    }

    @Test
    void commitIsReusedOnlyAfterItsFlushEnds() {
        write();
        Commit inFlight = queue.beginFlush();
        assertThat(queue.active()).isNotSameAs(inFlight);
        write();
        assertThat(queue.active()).isNotSameAs(inFlight);
        queue.endFlush(inFlight);
        queue.beginFlush();
        assertThat(queue.active()).isSameAs(inFlight);
        assertThat(inFlight.count()).isZero();
    }
}
