package io.caravan.bench.client;

import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The metrics of a server at one moment, read from {@code /metrics}. */
public final class ScrapedMetrics {
    private final String text;

    private ScrapedMetrics(String text) {
        this.text = text;
    }

    public static ScrapedMetrics of(InetSocketAddress http) throws IOException {
        return new ScrapedMetrics(page(http, "/metrics"));
    }

    /** Fetches a page from the server's HTTP port, and returns its text. */
    public static String page(InetSocketAddress http, String path) throws IOException {
        URI page = URI.create("http://" + http.getHostString() + ":" + http.getPort() + path);
        HttpURLConnection connection = (HttpURLConnection) page.toURL().openConnection();
        try (InputStream in = connection.getInputStream()) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } finally {
            connection.disconnect();
        }
    }

    /** Returns the sum of all values of a metric, regardless of their labels. */
    public double sum(String name) throws IOException {
        Matcher lines = Pattern.compile("(?m)^" + name + "(?:\\{.*})? (\\S+)$").matcher(text);
        if (!lines.find()) {
            throw new IOException("/metrics of the server does not contain " + name);
        }
        double sum = 0;
        do {
            sum += Double.parseDouble(lines.group(1));
        } while (lines.find());
        return sum;
    }
}
