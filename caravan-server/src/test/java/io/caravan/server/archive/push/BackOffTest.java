package io.caravan.server.archive.push;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class BackOffTest {
    private long nowNanos;
    private double random;
    private final BackOff backOff = new BackOff(() -> nowNanos, () -> random, Duration.ofSeconds(30));

    private Duration remaining() {
        return Duration.ofNanos(backOff.remainingNanos());
    }

    private void pass(Duration time) {
        nowNanos += time.toNanos();
    }

    @Test
    void doublesDelayUpToLimit() {
        assertThat(remaining()).isZero();
        backOff.failed(nowNanos);
        assertThat(remaining()).isEqualTo(Duration.ofMillis(200));
        pass(Duration.ofMillis(150));
        assertThat(remaining()).isEqualTo(Duration.ofMillis(50));
        pass(Duration.ofMillis(100));
        assertThat(remaining()).isZero();
        backOff.failed(nowNanos);
        assertThat(remaining()).isEqualTo(Duration.ofMillis(400));
        for (int i = 0; i < 20; i++) {
            backOff.failed(nowNanos);
        }
        assertThat(remaining()).isEqualTo(Duration.ofSeconds(30));
    }

    @Test
    void countsConcurrentFailuresOnce() {
        long start = nowNanos;
        pass(Duration.ofSeconds(1));
        backOff.failed(start);
        backOff.failed(start);
        backOff.failed(start);
        assertThat(remaining()).isEqualTo(Duration.ofMillis(200));
    }

    @Test
    void onlySuccessAfterFailureEndsDelay() {
        long start = nowNanos;
        pass(Duration.ofSeconds(1));
        backOff.failed(nowNanos);
        backOff.succeeded(start);
        assertThat(remaining()).isPositive();
        backOff.succeeded(nowNanos);
        assertThat(remaining()).isZero();
        backOff.failed(nowNanos);
        assertThat(remaining()).isEqualTo(Duration.ofMillis(200));
    }

    @Test
    void subtractsRandomJitter() {
        random = 0.5;
        backOff.failed(nowNanos);
        assertThat(remaining()).isEqualTo(Duration.ofMillis(150));
    }
}
