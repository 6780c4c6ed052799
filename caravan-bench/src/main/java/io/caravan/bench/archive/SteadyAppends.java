package io.caravan.bench.archive;

import io.caravan.bench.server.RespConnection;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.HdrHistogram.Histogram;

/** Connections that append to random documents; each waits for an answer before its next request. */
record SteadyAppends(int connections, int documents) {
    private static final int VALUE_BYTES = 200;
    private static final int DIGITS = 3;

    /**
     * The result.
     *
     * @param nanos latencies of the appends
     */
    record Outcome(Histogram nanos) {
        long count() {
            return nanos.getTotalCount();
        }
    }

    Outcome run(InetSocketAddress server, Duration time) throws IOException, InterruptedException {
        ExecutorService threads = Executors.newFixedThreadPool(connections);
        try {
            List<Future<Histogram>> parts = new ArrayList<>();
            for (int i = 0; i < connections; i++) {
                long seed = i;
                parts.add(threads.submit(() -> append(server, time.toNanos(), new SplittableRandom(seed))));
            }
            Histogram all = new Histogram(DIGITS);
            for (Future<Histogram> part : parts) {
                all.add(part.get());
            }
            return new Outcome(all);
        } catch (ExecutionException problem) {
            throw new IOException("an append failed", problem.getCause());
        } finally {
            threads.shutdownNow();
        }
    }

    private Histogram append(InetSocketAddress server, long nanos, SplittableRandom random) throws IOException {
        Histogram waits = new Histogram(DIGITS);
        byte[] value = new byte[VALUE_BYTES];
        try (RespConnection connection = new RespConnection(server)) {
            long start = System.nanoTime();
            for (long now = start; now - start < nanos; ) {
                random.nextBytes(value);
                connection.call(
                        RespConnection.ascii("RPUSH"),
                        RespConnection.ascii("document/" + random.nextInt(documents)),
                        value);
                long answered = System.nanoTime();
                waits.recordValue(answered - now);
                now = answered;
            }
        }
        return waits;
    }
}
