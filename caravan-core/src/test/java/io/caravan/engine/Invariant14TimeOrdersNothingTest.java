package io.caravan.engine;

import static io.caravan.testing.StoreCalls.append;
import static io.caravan.testing.StoreCalls.texts;
import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.FlushPolicy;
import io.caravan.StoreConfig;
import io.caravan.testing.LongTimeout;
import io.caravan.testing.MemoryStorage;
import io.caravan.testing.ModelLists;
import io.caravan.testing.ModelRun;
import io.caravan.testing.RandomOperations;
import io.caravan.testing.Seeds;
import io.caravan.testing.StoreContents;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Invariant 14: time never determines an order; LSNs and sequences do. */
@LongTimeout
class Invariant14TimeOrdersNothingTest {
    private static final long HOUR = TimeUnit.HOURS.toNanos(1);

    static Stream<Arguments> policies() {
        return Stream.of(
                Arguments.argumentSet("immediate", FlushPolicy.immediate()),
                Arguments.argumentSet("fixed delay", FlushPolicy.fixedDelay(Duration.ofMillis(1))),
                Arguments.argumentSet("adaptive", FlushPolicy.adaptive()));
    }

    /** Returns a clock that follows the real clock, but sometimes jumps forward or backward by up to an hour. */
    private static LongSupplier jumpingClock(long seed) {
        Random random = new Random(seed);
        long[] offset = {0};
        return () -> {
            synchronized (offset) {
                if (random.nextInt(5) == 0) {
                    offset[0] = (long) ((random.nextDouble() - 0.5) * 2 * HOUR);
                }
                return System.nanoTime() + offset[0];
            }
        };
    }

    @ParameterizedTest
    @MethodSource("policies")
    void jumpingClockDoesNotChangeContents(FlushPolicy policy) {
        Seeds.forEach(3, seed -> {
            StoreConfig config = FaultyStore.small()
                    .flushPolicy(policy)
                    .checkpointFloorBytes(100_000)
                    .checkpointFraction(0.1)
                    .build();
            ModelLists model = new ModelLists(FaultyStore.MAX_VALUE_BYTES);
            RandomOperations operations = new RandomOperations(seed, new RandomOperations.Shape(20, 500, 2000), model);
            FaultyStore store = FaultyStore.open(config, new MemoryStorage(), jumpingClock(seed));
            for (int round = 0; round < 3; round++) {
                new ModelRun(store.engine, model, same -> same).run(operations, 300);
                store.engine.flush();
                FaultyStore cut = FaultyStore.open(config, store.disk.powerCut(), jumpingClock(seed + round));
                assertThat(StoreContents.of(cut.engine)).isEqualTo(model.contents());
                store.close();
                store = cut;
            }
            store.closeAndVerify();
        });
    }

    private static LongSupplier fallingClock() {
        AtomicLong now = new AtomicLong(System.nanoTime());
        return () -> now.addAndGet(-HOUR);
    }

    /** Checks that a write is flushed, however far the clock goes back after the write was accepted. */
    @ParameterizedTest
    @MethodSource("policies")
    void backwardClockDoesNotDelayWrites(FlushPolicy policy) {
        StoreConfig config = FaultyStore.small().flushPolicy(policy).build();
        try (FaultyStore store = FaultyStore.open(config, new MemoryStorage(), fallingClock())) {
            for (int i = 0; i < 20; i++) {
                assertThat(append(store.engine, 1, "value " + i)).isEqualTo(i);
            }
            assertThat(texts(store.engine, 1)).hasSize(20);
        }
    }

    @Test
    void statisticsAreNeverNegativeWithBackwardClock() {
        try (FaultyStore store = FaultyStore.open(FaultyStore.small().build(), new MemoryStorage(), fallingClock())) {
            append(store.engine, 1, "a", "b", "c");
            // A flush is counted after its writes are acknowledged, but before the next flush.
            store.engine.flush();
            var stats = store.engine.stats();
            assertThat(stats.fsyncNanos().count()).isPositive();
            assertThat(stats.fsyncNanos().max()).isZero();
            assertThat(stats.ackNanos().max()).isZero();
        }
    }
}
