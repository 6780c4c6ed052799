package io.caravan.bench.scaling;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import org.junit.jupiter.api.Test;

class CrewTest {
    private static final int THREADS = 3;

    @Test
    void countsWhatAllThreadsDid() throws InterruptedException {
        LongAdder done = new LongAdder();
        AtomicBoolean settled = new AtomicBoolean();
        long start = System.nanoTime();
        try (Crew crew = new Crew(THREADS, Duration.ofMillis(20).toNanos())) {
            double rate = crew.run(
                    10,
                    thread -> () -> {
                        done.increment();
                        return done;
                    },
                    () -> settled.set(true));
            double leastRate = done.sum() / ((System.nanoTime() - start) / 1e9);
            assertThat(rate).isGreaterThanOrEqualTo(leastRate);
        }
        assertThat(done.sum() % 10).isZero();
        assertThat(settled).isTrue();
    }

    @Test
    void whatAThreadThrowsFailsTheRun() {
        try (Crew crew = new Crew(THREADS, Duration.ofMillis(20).toNanos())) {
            assertThatThrownBy(() -> crew.run(
                            1,
                            thread -> () -> {
                                throw new IllegalStateException("broken");
                            },
                            () -> {}))
                    .hasRootCauseMessage("broken");
        }
    }
}
