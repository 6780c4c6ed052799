package io.caravan.server.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** Tests that a result is computed only once for callers that request it at about the same time. */
class CachedResultTest {
    private final AtomicLong nanos = new AtomicLong();
    private final CachedResult<Long> shared = new CachedResult<>(Duration.ofNanos(100), nanos::get);
    private long computations;

    @Test
    void sharesResultForConfiguredTime() {
        assertThat(shared.get(() -> ++computations)).isEqualTo(1);
        nanos.set(99);
        assertThat(shared.get(() -> ++computations)).isEqualTo(1);
        nanos.set(100);
        assertThat(shared.get(() -> ++computations)).isEqualTo(2);
    }

    @Test
    void sharesSlowResultForTwentyTimesItsDuration() {
        shared.get(() -> nanos.addAndGet(50));
        nanos.set(50 + 20 * 50 - 1);
        assertThat(shared.get(() -> ++computations)).isEqualTo(50);
        nanos.incrementAndGet();
        assertThat(shared.get(() -> ++computations)).isEqualTo(1);
    }
}
