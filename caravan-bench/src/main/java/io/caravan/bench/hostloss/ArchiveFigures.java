package io.caravan.bench.hostloss;

import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What a server tells of its archive at {@code /metrics}.
 *
 * @param oldestSeconds age of the oldest change that is not archived
 * @param failures attempts that failed
 * @param backOffSeconds time until the next attempt
 * @param ready what {@code /readyz} says
 */
record ArchiveFigures(double oldestSeconds, double failures, double backOffSeconds, String ready) {

    static ArchiveFigures of(InetSocketAddress http) throws IOException {
        String metrics = get(http, "/metrics");
        return new ArchiveFigures(
                sum(metrics, "caravan_archive_oldest_unarchived_seconds"),
                sum(metrics, "caravan_archive_failures_total"),
                sum(metrics, "caravan_archive_backoff_seconds"),
                get(http, "/readyz"));
    }

    /** Of all values of a metric, whatever their tags. */
    private static double sum(String metrics, String name) throws IOException {
        Matcher lines = Pattern.compile("(?m)^" + name + "(?:\\{.*})? (\\S+)$").matcher(metrics);
        if (!lines.find()) {
            throw new IOException("the server's /metrics have no " + name);
        }
        double sum = 0;
        do {
            sum += Double.parseDouble(lines.group(1));
        } while (lines.find());
        return sum;
    }

    private static String get(InetSocketAddress http, String path) throws IOException {
        URI page = URI.create("http://" + http.getHostString() + ":" + http.getPort() + path);
        HttpURLConnection connection = (HttpURLConnection) page.toURL().openConnection();
        try (InputStream in = connection.getInputStream()) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } finally {
            connection.disconnect();
        }
    }
}
