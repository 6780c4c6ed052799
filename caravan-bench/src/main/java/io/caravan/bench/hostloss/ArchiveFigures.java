package io.caravan.bench.hostloss;

import io.caravan.bench.server.ServerMetrics;
import java.io.IOException;
import java.net.InetSocketAddress;

/**
 * A server's archive metrics.
 *
 * @param oldestSeconds age of the oldest unarchived change
 * @param failures number of failed attempts
 * @param backOffSeconds time until the next attempt
 * @param ready response of {@code /readyz}
 */
record ArchiveFigures(double oldestSeconds, double failures, double backOffSeconds, String ready) {

    static ArchiveFigures of(InetSocketAddress http) throws IOException {
        ServerMetrics metrics = ServerMetrics.of(http);
        return new ArchiveFigures(
                metrics.sum("caravan_archive_lag_seconds"),
                metrics.sum("caravan_archive_failures_total"),
                metrics.sum("caravan_archive_backoff_seconds"),
                ServerMetrics.page(http, "/readyz"));
    }
}
