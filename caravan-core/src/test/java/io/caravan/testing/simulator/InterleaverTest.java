package io.caravan.testing.simulator;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** The monitors that interleaved threads use. */
final class InterleaverTest {
    private static final int SEEDS = 2_000;
    private static final int THREADS = 4;
    private static final int TIMES = 3;

    @Test
    void aMonitorHasOneOwner() {
        for (long seed = 0; seed < SEEDS; seed++) {
            try (Interleaver threads = new Interleaver(seed)) {
                Object lock = new Object();
                AtomicInteger owners = new AtomicInteger();
                for (int i = 0; i < THREADS; i++) {
                    threads.thread("thread " + i, () -> {
                        for (int time = 0; time < TIMES; time++) {
                            Interleaver.enter(lock);
                            owners.incrementAndGet();
                            Interleaver.point();
                            owners.decrementAndGet();
                            Interleaver.exit(lock);
                        }
                    });
                }
                threads.always(() -> assertThat(owners.get()).isBetween(0, 1));
                threads.run();
            }
        }
    }
}
