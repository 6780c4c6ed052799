package io.caravan.engine;

import static io.caravan.testing.FaultStorage.on;
import static io.caravan.testing.StoreCalls.NO_CALLBACK;
import static io.caravan.testing.StoreCalls.bytes;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.caravan.FlushPolicy;
import io.caravan.ListStore;
import io.caravan.StoreConfig;
import io.caravan.WriteBatch;
import io.caravan.testing.Completions;
import io.caravan.testing.FaultStorage.Hold;
import io.caravan.testing.FaultStorage.Kind;
import io.caravan.testing.LongTimeout;
import io.caravan.testing.MemoryStorage;
import io.caravan.testing.StoreCalls;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests how long the store delays flushes, and how precisely it keeps to this delay. */
@LongTimeout
class FlushTimingTest {
    private static final long MILLI = 1_000_000;

    private final AtomicLong nanos = new AtomicLong();
    private final Completions completions = new Completions();

    private static FlushDelay delay(FlushPolicy policy) {
        return new FlushDelay(policy, () -> 0, 1);
    }

    @Test
    void immediatePolicyNeverWaits() {
        FlushDelay delay = delay(FlushPolicy.immediate());
        delay.flushed(100, MILLI, 5 * MILLI);
        delay.flushed(100, MILLI, 6 * MILLI);
        assertThat(delay.nanos()).isZero();
    }

    @Test
    void fixedDelayPolicyAlwaysUsesConfiguredDelay() {
        FlushDelay delay = delay(FlushPolicy.fixedDelay(Duration.ofMillis(3)));
        assertThat(delay.nanos()).isEqualTo(3 * MILLI);
        delay.flushed(1, 50 * MILLI, 60 * MILLI);
        assertThat(delay.nanos()).isEqualTo(3 * MILLI);
    }

    /** Opens a store whose flush delay never ends, because the store's clock does not advance. */
    private static FaultyStore neverFlushing() {
        return neverFlushing(FaultyStore.small());
    }

    private static FaultyStore neverFlushing(StoreConfig.Builder config) {
        return FaultyStore.open(
                config.flushPolicy(FlushPolicy.fixedDelay(Duration.ofMinutes(1)))
                        .build(),
                new MemoryStorage(),
                () -> 0);
    }

    static Stream<Arguments> reads() {
        return Stream.of(
                read("a list", store -> StoreCalls.texts(store, 1)),
                read("a list that was deleted", store -> StoreCalls.texts(store, 2)),
                read("what a list holds", store -> store.info(1)),
                read("all lists", store -> store.forEachList(id -> {})));
    }

    private static Arguments read(String name, Consumer<ListStore> read) {
        return Arguments.argumentSet(name, read);
    }

    @ParameterizedTest
    @MethodSource("reads")
    void readDoesNotWaitForFlushDelay(Consumer<ListStore> read) {
        try (FaultyStore store = neverFlushing()) {
            store.engine.append(1, bytes("value"), NO_CALLBACK);
            store.engine.append(2, bytes("value"), NO_CALLBACK);
            store.engine.delete(2, NO_CALLBACK);
            read.accept(store.engine);
        }
    }

    @Test
    void writabilityDoesNotWaitForFlushDelay() {
        try (FaultyStore store = neverFlushing()) {
            store.awaitProvisioned();
            store.engine.append(1, bytes(FaultyStore.MAX_VALUE_BYTES, 1), NO_CALLBACK);
            CompletableFuture<Void> writable = new CompletableFuture<>();
            store.engine.onWritable(() -> writable.complete(null));
            StoreCalls.await(writable);
        }
    }

    private static void useUpPreparedSegments(FaultyStore store, Hold create) {
        while (store.engine.writable()) {
            store.engine.append(1, bytes("a frame"), NO_CALLBACK);
            store.engine.flush();
        }
        create.awaitReached();
    }

    @Test
    void actionRunsDuringFlushDelayWhenNextLogSegmentIsReady() {
        try (FaultyStore store = neverFlushing()) {
            store.awaitProvisioned();
            CompletableFuture<Void> writable = new CompletableFuture<>();
            try (Hold create = store.faults.hold(on(Kind.CREATE, "log-.*"))) {
                useUpPreparedSegments(store, create);
                store.engine.append(1, bytes("is delayed"), completions.callback(1));
                store.engine.onWritable(() -> writable.complete(null));
                store.awaitIdleFlusher();
                assertThat(writable).isNotDone();
            }
            StoreCalls.await(writable);
            assertThat(completions.all()).isEmpty();
        }
    }

    /** Checks that the action runs when writes that follow its registration fill half of the buffer. */
    @Test
    void actionRunsDuringFlushDelayWhenBufferFillsUp() {
        // The segment in use then has less space than a full buffer takes, but more than half of it.
        try (FaultyStore store = neverFlushing(FaultyStore.small().logBufferBytes(12 * 1024))) {
            store.awaitProvisioned();
            CompletableFuture<Void> writable = new CompletableFuture<>();
            try (Hold create = store.faults.hold(on(Kind.CREATE, "log-.*"))) {
                useUpPreparedSegments(store, create);
                store.engine.onWritable(() -> writable.complete(null));
                store.engine.append(1, bytes(FaultyStore.MAX_VALUE_BYTES, 1), NO_CALLBACK);
                store.engine.append(1, bytes(3000, 1), NO_CALLBACK);
                store.awaitIdleFlusher();
                assertThat(writable).isNotDone();
            }
            StoreCalls.await(writable);
        }
    }

    private static WriteBatch withFlushDelay(long id, Duration delay) {
        return WriteBatch.create().append(id, bytes("patient")).flushDelay(delay);
    }

    /** Opens a store that flushes without delay and whose clock the test sets. */
    private FaultyStore atOnce() {
        FaultyStore store = FaultyStore.open(
                FaultyStore.small().flushPolicy(FlushPolicy.immediate()).build(), new MemoryStorage(), nanos::get);
        store.awaitProvisioned();
        store.faults.clearCalls();
        return store;
    }

    @Test
    void writeCanUseLongerDelayThanStore() {
        try (FaultyStore store = atOnce()) {
            store.engine.write(withFlushDelay(1, Duration.ofMinutes(1)), completions.callback(1));
            store.awaitIdleFlusher();
            assertThat(completions.all()).isEmpty();
            store.engine.append(2, bytes("value"), completions.callback(2));
            store.awaitIdleFlusher();
            assertThat(completions.all())
                    .extracting(Completions.Completion::tag)
                    .containsExactly(1L, 2L);
            assertThat(store.faults.calls(on(Kind.FORCE, FaultyStore.LOG))).hasSize(1);
        }
    }

    @Test
    void sharedFlushUsesShortestDelay() {
        try (FaultyStore store = atOnce()) {
            store.engine.write(withFlushDelay(1, Duration.ofSeconds(30)), completions.callback(1));
            store.engine.write(withFlushDelay(1, Duration.ofMinutes(1)), completions.callback(2));
            store.awaitIdleFlusher();
            assertThat(completions.all()).isEmpty();
            store.engine.write(withFlushDelay(1, Duration.ZERO), completions.callback(3));
            store.awaitIdleFlusher();
            assertThat(completions.all()).hasSize(3);
        }
    }

    @Test
    void delayedWriteIsFlushedAfterItsDelay() {
        try (FaultyStore store = atOnce()) {
            store.engine.write(withFlushDelay(1, Duration.ofMillis(25)), completions.callback(1));
            store.awaitIdleFlusher();
            assertThat(completions.all()).isEmpty();
            nanos.set(25 * MILLI);
            assertThat(completions.await(1)).hasSize(1);
        }
    }

    @Test
    void reusedCommitDoesNotKeepFlushDelay() {
        try (FaultyStore store = atOnce()) {
            // Each of the two alternating commits has had both kinds of writes.
            for (int i = 0; i < 2; i++) {
                StoreCalls.append(store.engine, 2, "value");
                store.engine.write(withFlushDelay(1, Duration.ZERO)).join();
                store.engine.write(withFlushDelay(1, Duration.ZERO)).join();
                store.awaitIdleFlusher();
            }
            store.engine.write(withFlushDelay(1, Duration.ofMinutes(1)), completions.callback(1));
            store.awaitIdleFlusher();
            assertThat(completions.all()).isEmpty();
        }
    }

    @Test
    void writeCanUseShorterDelayThanStore() {
        try (FaultyStore store = neverFlushing()) {
            store.engine.append(1, bytes("value"), completions.callback(1));
            store.awaitIdleFlusher();
            store.engine.write(withFlushDelay(1, Duration.ZERO), completions.callback(2));
            store.awaitIdleFlusher();
            assertThat(completions.all()).hasSize(2);
        }
    }

    @ParameterizedTest
    @MethodSource("reads")
    void readDoesNotWaitForDelayedWrites(Consumer<ListStore> read) {
        try (FaultyStore store = atOnce()) {
            store.engine.write(withFlushDelay(1, Duration.ofMinutes(1)), NO_CALLBACK);
            store.engine.write(
                    WriteBatch.create().append(2, bytes("gone")).delete(2).flushDelay(Duration.ofMinutes(1)),
                    NO_CALLBACK);
            read.accept(store.engine);
        }
    }

    /** Returns the delay after {@code flushes} flushes with {@code writes} writes each, {@code apartNanos} apart. */
    private static FlushDelay adaptiveAfter(int flushes, int writes, long fsyncNanos, long apartNanos) {
        FlushDelay delay = delay(FlushPolicy.adaptive());
        for (int i = 1; i <= flushes; i++) {
            delay.flushed(writes, fsyncNanos, i * apartNanos);
        }
        return delay;
    }

    @Test
    void adaptiveDelayIsRootOfFsyncTimeOverArrivalRate() {
        // 100 writes in 10 ms: one write in 100,000 ns; an fsync of 4 ms: sqrt(4e6 * 1e5) = 632,456 ns.
        assertThat(adaptiveAfter(50, 100, 4 * MILLI, 10 * MILLI).nanos()).isCloseTo(632_456, within(2_000L));
    }

    @Test
    void adaptiveDelayStartsAtSecondFlush() {
        assertThat(adaptiveAfter(1, 100, 4 * MILLI, 10 * MILLI).nanos()).isZero();
        assertThat(adaptiveAfter(2, 100, 4 * MILLI, 10 * MILLI).nanos()).isCloseTo(632_456, within(2_000L));
    }

    @Test
    void adaptiveDelayNeverExceedsFsyncTime() {
        assertThat(adaptiveAfter(50, 2, MILLI, 100 * MILLI).nanos()).isCloseTo(MILLI, within(2L));
    }

    @Test
    void adaptiveDelayIsZeroForSingleWriter() {
        FlushDelay delay = adaptiveAfter(50, 100, 4 * MILLI, 10 * MILLI);
        delay.flushed(1, 4 * MILLI, 510 * MILLI);
        assertThat(delay.nanos()).isZero();
    }

    @Test
    void adaptiveDelayIgnoresOldMeasurements() {
        FlushDelay delay = adaptiveAfter(50, 100, 40 * MILLI, 50 * MILLI);
        for (int i = 1; i <= 100; i++) {
            delay.flushed(100, 4 * MILLI, 2500 * MILLI + i * 10 * MILLI);
        }
        assertThat(delay.nanos()).isCloseTo(632_456, within(5_000L));
    }

    @Test
    void adaptiveDelayIsBoundedForExtremeMeasurements() {
        FlushDelay delay = adaptiveAfter(3, 2, 3600_000 * MILLI, 3600_000 * MILLI);
        assertThat(delay.nanos()).isEqualTo(20 * MILLI);
        delay.flushed(2, -3600_000 * MILLI, -5 * MILLI);
        assertThat(delay.nanos()).isBetween(0L, 20 * MILLI);
    }

    /** A clock that advances by one step whenever it is read. */
    private static final class SteppingClock {
        long now;
        final long step;

        SteppingClock(long step) {
            this.step = step;
        }

        long tick() {
            long seen = now;
            now += step;
            return seen;
        }
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource({
        "a long wait is parked but for its last stretch, 8, 2000000, 1900000",
        "a single core does not spin, 1, 90000, 90000",
        "a wait of many milliseconds is not worth spinning, 8, 50000000, 50000000"
    })
    void returnsTimeToPark(String what, int processors, long nanos, long parkedNanos) {
        SteppingClock clock = new SteppingClock(0);
        FlushDelay sleeper = new FlushDelay(FlushPolicy.immediate(), clock::tick, processors);
        assertThat(sleeper.parkOrSpin(nanos, () -> false)).as(what).isEqualTo(parkedNanos);
    }

    @Test
    void spinsUntilInstantAtEndOfWait() {
        SteppingClock clock = new SteppingClock(1_000);
        FlushDelay sleeper = new FlushDelay(FlushPolicy.immediate(), clock::tick, 8);
        assertThat(sleeper.parkOrSpin(90_000, () -> false)).isZero();
        assertThat(clock.now).isBetween(90_000L, 92_000L);
    }

    @Test
    void doesNotWaitForPastInstantOrIfCutShort() {
        SteppingClock clock = new SteppingClock(0);
        clock.now = 5 * MILLI;
        FlushDelay sleeper = new FlushDelay(FlushPolicy.immediate(), clock::tick, 8);
        assertThat(sleeper.parkOrSpin(4 * MILLI, () -> false)).isZero();
        assertThat(sleeper.parkOrSpin(9 * MILLI, () -> true)).isZero();
    }
}
