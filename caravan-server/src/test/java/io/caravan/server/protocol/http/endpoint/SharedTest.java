package io.caravan.server.protocol.http.endpoint;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** Values that are computed once for callers that request them at about the same time. */
class SharedTest {
    private final AtomicLong nanos = new AtomicLong();
    private final Shared<Long> shared = new Shared<>(Duration.ofNanos(100), nanos::get);
    private long looks;

    @Test
    void aLookIsSharedForAWhile() {
        assertThat(shared.get(() -> ++looks)).isEqualTo(1);
        nanos.set(99);
        assertThat(shared.get(() -> ++looks)).isEqualTo(1);
        nanos.set(100);
        assertThat(shared.get(() -> ++looks)).isEqualTo(2);
    }

    @Test
    void oneThatTookLongIsSharedForTwentyTimesAsLong() {
        shared.get(() -> nanos.addAndGet(50));
        nanos.set(50 + 20 * 50 - 1);
        assertThat(shared.get(() -> ++looks)).isEqualTo(50);
        nanos.incrementAndGet();
        assertThat(shared.get(() -> ++looks)).isEqualTo(1);
    }
}
