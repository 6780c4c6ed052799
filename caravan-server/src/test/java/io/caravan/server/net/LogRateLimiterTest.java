package io.caravan.server.net;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class LogRateLimiterTest {
    @Test
    void limitsLinesAndReportsSuppressedCount() {
        LogRateLimiter limit = new LogRateLimiter();
        long now = System.nanoTime();
        for (int i = 0; i < 10; i++) {
            assertThat(limit.next(now)).isZero();
        }
        for (int i = 0; i < 7; i++) {
            assertThat(limit.next(now)).isEqualTo(-1);
        }
        long later = now + Duration.ofMinutes(2).toNanos();
        assertThat(limit.next(later)).isEqualTo(7);
        assertThat(limit.next(later)).isZero();
    }
}
