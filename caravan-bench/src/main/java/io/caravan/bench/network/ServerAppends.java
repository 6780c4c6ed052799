package io.caravan.bench.network;

import io.caravan.bench.report.Figure;
import io.caravan.bench.report.Measurement;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Appends to a fresh Caravan server with default settings, in its own process, for comparison with other ways to
 * append.
 */
public final class ServerAppends implements AutoCloseable {
    private static final Subject SUBJECT = Caravan.asDelivered();
    private static final int STREAMS = 64;
    private static final int WARM_UP_DEPTH = 16;
    private static final int WARM_UP_COUNT = 300_000;
    private static final int DEEP_COUNT = 500_000;
    private static final int SHALLOW_COUNT = 60_000;
    private static final Duration HTTP_LENGTH = Duration.ofSeconds(1);
    private static final int QUICK_DIVISOR = 100;

    private final RunningServer server;
    private final RedisBenchmark benchmark;
    private final HttpAppends http;
    private final int divisor;

    /**
     * Starts the server.
     *
     * @param work on the disk to measure
     * @param quick whether counts are to be tiny
     */
    public ServerAppends(Path work, boolean quick) throws IOException {
        divisor = quick ? QUICK_DIVISOR : 1;
        benchmark = new RedisBenchmark(work);
        http = quick ? new HttpAppends(true) : new HttpAppends(HTTP_LENGTH, HTTP_LENGTH);
        server = RunningServer.start(SUBJECT, work);
    }

    /** Why RESP cannot be measured here; null when it can. */
    public static @Nullable String missingForResp() {
        return RedisBenchmark.missing();
    }

    /** Warms up the server for RESP. */
    public void warmUp() throws IOException {
        benchmark.run(server.resp(), WARM_UP_DEPTH, WARM_UP_COUNT / divisor);
    }

    /**
     * Appends of 200 bytes to 10,000 lists over 50 connections.
     *
     * @param depth outstanding requests on each connection
     * @return {@link Figure#REQUESTS_PER_SECOND} and processor times
     */
    public Measurement resp(int depth) throws IOException {
        return RespRates.measure(benchmark, server, depth, (depth == 1 ? SHALLOW_COUNT : DEEP_COUNT) / divisor);
    }

    /**
     * Appends of 200 bytes to 64 streams over 64 connections, after a warm-up of the same length.
     *
     * @param depth outstanding requests on each connection
     * @return {@link Figure#REQUESTS_PER_SECOND}, waits and processor times
     */
    public Measurement http(int depth) throws IOException, InterruptedException {
        Measurement measurement =
                http.measure(server, SUBJECT, new HttpAppends.Load("POST, depth " + depth, STREAMS, depth));
        if (measurement.get(Figure.ERRORS) > 0) {
            throw new IOException("appends over HTTP failed: " + measurement.get(Figure.ERRORS) + " of them");
        }
        return measurement;
    }

    /** Stops the server and deletes its data. */
    @Override
    public void close() throws IOException {
        server.close();
    }
}
