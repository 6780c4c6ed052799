package io.caravan.bench.cluster;

import io.caravan.bench.report.Figure;
import io.caravan.bench.report.ForceProbe;
import io.caravan.bench.report.Measure;
import io.caravan.bench.report.Measurement;
import io.caravan.bench.report.Results;
import io.caravan.bench.report.Results.Row;
import io.caravan.bench.report.Table;
import io.caravan.bench.report.Turn;
import io.caravan.bench.server.RespConnection;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/** How long one writer waits, who appends one value after the other, beside what the machine takes for it by hand. */
final class LoneWriter implements Measure {
    private static final String WORKLOAD = "RPUSH, one writer";
    private static final int VALUE_BYTES = 200;
    private static final int APPENDS = 2_000;
    private static final int QUICK_APPENDS = 20;
    private static final int DIGITS = 3;

    private final List<Contestant> contestants;
    private final boolean quick;
    private final int appends;
    private final Results results = new Results();

    LoneWriter(List<Contestant> contestants, boolean quick) {
        this.contestants = contestants;
        this.quick = quick;
        this.appends = quick ? QUICK_APPENDS : APPENDS;
    }

    @Override
    public void run(Turn turn) throws IOException, InterruptedException {
        for (Contestant contestant : turn.inTurn(contestants)) {
            contestant.run(turn, WORKLOAD, results, running -> {
                PipelinedAppends.warmUp(contestant, running.address(), quick);
                try (RespConnection connection = new RespConnection(running.address())) {
                    append(contestant, connection);
                    results.add(
                            new Row(WORKLOAD, contestant.name(), contestant.durability()),
                            new Measurement().latencies(append(contestant, connection), TimeUnit.NANOSECONDS));
                }
            });
        }
        turn.say("two forces and a round trip, by hand");
        results.add(new Row(WORKLOAD, "two forces and a loopback round trip, by hand", "forced twice"), byHand(turn));
    }

    private Histogram append(Contestant contestant, RespConnection connection) throws IOException {
        byte[] value = new byte[VALUE_BYTES];
        return timed(() -> contestant.append(connection, 1, "list", value));
    }

    private interface Step {
        void run() throws IOException;
    }

    private Histogram timed(Step step) throws IOException {
        Histogram nanos = new Histogram(DIGITS);
        for (int i = 0; i < appends; i++) {
            long start = System.nanoTime();
            step.run();
            nanos.recordValue(System.nanoTime() - start);
        }
        return nanos;
    }

    /** The median of a force twice, and of a round trip once: the leader's force, and a follower's behind it. */
    private Measurement byHand(Turn turn) throws IOException {
        double forceMicros;
        try (ForceProbe probe = new ForceProbe(turn.work(), ForceProbe.SMALL_BLOCK_BYTES, appends)) {
            forceMicros = probe.run().get(Figure.P50_MICROS);
        }
        double roundTripMillis = roundTrips().getValueAtPercentile(50) / (double) TimeUnit.MILLISECONDS.toNanos(1);
        return new Measurement()
                .with(Figure.P50_MILLIS, 2 * forceMicros / TimeUnit.MILLISECONDS.toMicros(1) + roundTripMillis);
    }

    private Histogram roundTrips() throws IOException {
        try (ServerSocket listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                Socket near = new Socket(listener.getInetAddress(), listener.getLocalPort());
                Socket far = listener.accept()) {
            near.setTcpNoDelay(true);
            far.setTcpNoDelay(true);
            Thread echo = new Thread(() -> echo(far), "bench-echo");
            echo.setDaemon(true);
            echo.start();
            OutputStream out = near.getOutputStream();
            InputStream in = near.getInputStream();
            return timed(() -> {
                out.write(1);
                if (in.read() < 0) {
                    throw new IOException("the echo has ended");
                }
            });
        }
    }

    private static void echo(Socket far) {
        try {
            for (int read = far.getInputStream().read();
                    read >= 0;
                    read = far.getInputStream().read()) {
                far.getOutputStream().write(read);
            }
        } catch (IOException closed) {
            // The measurement is over.
        }
    }

    @Override
    public Table table() {
        return new Table(
                "One writer",
                "One connection, which appends " + appends
                        + " values of 200 bytes, each when the last is answered, after"
                        + " as many to warm up, and 20 s of appends over 50 connections. By hand: the median force of 4 KiB in an allocated file, twice, and the"
                        + " median round trip of a byte over loopback.",
                results);
    }
}
