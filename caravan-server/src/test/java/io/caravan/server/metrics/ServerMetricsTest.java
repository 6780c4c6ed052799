package io.caravan.server.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.server.metrics.ServerMetrics.Operation;
import io.caravan.server.metrics.ServerMetrics.RequestOutcome;
import io.caravan.server.net.Network;
import io.caravan.server.net.NetworkConfig;
import io.caravan.server.security.Authenticator;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests that the longest recent request is found with a clock that ticks rarely. */
final class ServerMetricsTest {
    private static final String LABELS = "{operation=\"append\",outcome=\"ok\",protocol=\"resp\"} ";

    private final AtomicLong wallMillis = new AtomicLong(1_000_000_000_000L);
    private final ServerMetrics metrics = new ServerMetrics(wallMillis::get);
    private final Operation appends = metrics.operation("resp", "append");

    @AfterEach
    void close() {
        metrics.close();
    }

    private void count(int seconds) {
        appends.count(RequestOutcome.OK, Duration.ofSeconds(seconds).toNanos());
    }

    @Test
    void reportsLongestRequestOfLastTick() {
        count(5);
        count(3);
        wallMillis.addAndGet(999);
        assertThat(metrics.scrape())
                .contains("caravan_requests_seconds_max" + LABELS + "5.0")
                .contains("caravan_requests_seconds_count" + LABELS + "2");
    }

    @Test
    void forgetsOldRequestAtScrapeEvenWithoutTick() {
        count(5);
        wallMillis.addAndGet(Duration.ofMinutes(10).toMillis());
        assertThat(metrics.scrape()).contains("caravan_requests_seconds_max" + LABELS + "0.0");
        count(2);
        assertThat(metrics.scrape()).contains("caravan_requests_seconds_max" + LABELS + "2.0");
    }

    @Test
    void eventLoopOfNetworkKeepsTime() throws Exception {
        CountDownLatch ticked = new CountDownLatch(1);
        LongSupplier clock = () -> {
            if (Thread.currentThread().getName().startsWith("caravan-loop")) {
                ticked.countDown();
            }
            return 0;
        };
        try (ServerMetrics kept = new ServerMetrics(clock);
                Network network = new Network(NetworkConfig.defaults())) {
            kept.register(network, Authenticator.open());
            assertThat(ticked.await(1, TimeUnit.MINUTES)).isTrue();
        }
    }
}
