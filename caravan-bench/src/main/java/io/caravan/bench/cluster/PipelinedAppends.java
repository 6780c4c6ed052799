package io.caravan.bench.cluster;

import io.caravan.bench.report.Figure;
import io.caravan.bench.report.Measurement;
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
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import org.HdrHistogram.Histogram;

/**
 * Connections that each send some appends together, and the next when all are answered.
 *
 * @param depth appends that are sent together
 */
record PipelinedAppends(int connections, int depth, int valueBytes) {
    private static final int VALUE_BYTES = 200;
    private static final int LISTS = 10_000;
    private static final int DIGITS = 3;
    private static final long PATIENCE_SECONDS = 120;
    /** Three JVMs on a few cores have compiled what they need no sooner. */
    private static final Duration WARM_UP = Duration.ofSeconds(20);

    private static final Duration QUICK_WARM_UP = Duration.ofMillis(200);

    /** Appends of values of 200 bytes. */
    PipelinedAppends(int connections, int depth) {
        this(connections, depth, VALUE_BYTES);
    }

    /** Has a server that was just started do for a while what is measured next. */
    static void warmUp(Contestant contestant, InetSocketAddress server, boolean quick)
            throws IOException, InterruptedException {
        new PipelinedAppends(50, 16).run(contestant, server, quick ? QUICK_WARM_UP : WARM_UP);
    }

    /** Appends for so long; counts requests, and times how long each connection waited for what it had sent together. */
    Measurement run(Contestant contestant, InetSocketAddress server, Duration time)
            throws IOException, InterruptedException {
        long start = System.nanoTime();
        Histogram waits = run(contestant, server, () -> System.nanoTime() - start < time.toNanos(), time);
        double seconds = (System.nanoTime() - start) / (double) TimeUnit.SECONDS.toNanos(1);
        return new Measurement()
                .with(Figure.REQUESTS_PER_SECOND, waits.getTotalCount() * depth / seconds)
                .latencies(waits, TimeUnit.NANOSECONDS);
    }

    /**
     * Appends while it is to go on, which each connection asks before it sends.
     *
     * @param time that this takes at most, about
     * @return how long each connection waited for what it had sent together, in nanoseconds
     */
    Histogram run(Contestant contestant, InetSocketAddress server, BooleanSupplier goesOn, Duration time)
            throws IOException, InterruptedException {
        ExecutorService threads = Executors.newFixedThreadPool(connections);
        try {
            List<Future<Histogram>> parts = new ArrayList<>();
            for (int i = 0; i < connections; i++) {
                long seed = i;
                parts.add(threads.submit(() -> append(contestant, server, goesOn, new SplittableRandom(seed))));
            }
            Histogram all = new Histogram(DIGITS);
            for (Future<Histogram> part : parts) {
                all.add(part.get(time.toSeconds() + PATIENCE_SECONDS, TimeUnit.SECONDS));
            }
            return all;
        } catch (ExecutionException problem) {
            throw new IOException(contestant.name() + ": an append failed", problem.getCause());
        } catch (TimeoutException late) {
            throw new IOException(contestant.name() + ": no answer in " + PATIENCE_SECONDS + " s", late);
        } finally {
            threads.shutdownNow();
        }
    }

    private Histogram append(
            Contestant contestant, InetSocketAddress server, BooleanSupplier goesOn, SplittableRandom random)
            throws IOException {
        Histogram waits = new Histogram(DIGITS);
        byte[] value = new byte[valueBytes];
        try (RespConnection connection = new RespConnection(server)) {
            while (goesOn.getAsBoolean()) {
                random.nextBytes(value);
                long sent = System.nanoTime();
                contestant.append(connection, depth, "list:" + random.nextInt(LISTS), value);
                waits.recordValue(System.nanoTime() - sent);
            }
        }
        return waits;
    }
}
