package io.caravan.bench.network;

import io.caravan.bench.report.Figure;
import io.caravan.bench.report.Measurement;
import io.caravan.bench.report.Results;
import io.caravan.bench.report.Table;
import io.netty.buffer.ByteBufUtil;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.HdrHistogram.Histogram;

/** Appends over HTTP by connections with one or sixteen outstanding requests each. */
final class HttpAppends implements NetworkMeasure {
    private static final int CONNECTIONS = 64;
    private static final int FEW_STREAMS = 64;
    private static final int MANY_STREAMS = 1_000;
    private static final int PIPELINED = 16;
    private static final int VALUE_BYTES = 200;
    private static final int DIGITS = 3;
    private static final long END_SECONDS = 60;
    private static final double NANOS_PER_SECOND = 1e9;

    private final Results results = new Results();
    /** Problems by system and load, in order of occurrence. */
    private final Set<String> errors = new LinkedHashSet<>();

    private final Duration warmUp;
    private final Duration length;

    HttpAppends(boolean quick) {
        this(Duration.ofMillis(quick ? 500 : 3_000), Duration.ofMillis(quick ? 2_000 : 5_000));
    }

    HttpAppends(Duration warmUp, Duration length) {
        this.warmUp = warmUp;
        this.length = length;
    }

    /** The shape of the load. */
    record Load(String workload, int streams, int depth) {}

    private static final List<Load> LOADS = List.of(
            new Load("POST, " + FEW_STREAMS + " streams", FEW_STREAMS, 1),
            new Load("POST, " + MANY_STREAMS + " streams", MANY_STREAMS, 1),
            new Load("POST, " + FEW_STREAMS + " streams, " + PIPELINED + " pipelined", FEW_STREAMS, PIPELINED));

    @Override
    public void run(Stage stage) throws IOException, InterruptedException {
        Comparison comparison = Comparison.ofRates(results, Figure.REQUESTS_PER_SECOND);
        for (Subject subject : stage.inTurn(List.of(Caravan.asDelivered(), new ReferenceServer()))) {
            for (Load load : LOADS) {
                stage.with(
                        subject,
                        load.workload(),
                        results,
                        server -> comparison.add(load.workload(), subject, measure(server, subject, load)));
            }
        }
    }

    /** Loads one server. */
    Measurement measure(RunningServer server, Subject subject, Load load) throws IOException, InterruptedException {
        try (HttpClient client = new HttpClient(server.http())) {
            List<HttpLink> links = client.connect(CONNECTIONS);
            byte[][] requests = requests(links.get(0), load);
            CountDownLatch ended = new CountDownLatch(CONNECTIONS);
            Window window = Window.after(warmUp, length);
            List<AppendLoop> loops = begin(links, requests, load.depth(), window, ended);
            CpuTimes used = CpuTimes.during(window, server);
            if (!ended.await(END_SECONDS, TimeUnit.SECONDS)) {
                throw new IOException("the last appends were not answered within " + END_SECONDS + " s");
            }
            noteErrors(subject, load, loops);
            return measurement(window, loops, used);
        }
    }

    private static List<AppendLoop> begin(
            List<HttpLink> links, byte[][] requests, int depth, Window window, CountDownLatch ended) {
        List<AppendLoop> loops = new ArrayList<>();
        for (HttpLink link : links) {
            AppendLoop loop = new AppendLoop(link, requests, loops.size(), window, ended);
            loops.add(loop);
            link.execute(() -> loop.begin(depth));
        }
        return loops;
    }

    private void noteErrors(Subject subject, Load load, List<AppendLoop> loops) {
        loops.stream()
                .map(AppendLoop::firstError)
                .filter(Objects::nonNull)
                .findFirst()
                .ifPresent(error -> errors.add(subject.name() + ", " + load.workload() + ": " + error));
    }

    private static byte[][] requests(HttpLink link, Load load) throws IOException, InterruptedException {
        List<String> streams = IntStream.range(0, load.streams())
                .mapToObj(i -> load.streams() + "-" + load.depth() + "-" + i)
                .toList();
        Requests.createAll(link, streams);
        byte[] value = new byte[VALUE_BYTES];
        Arrays.fill(value, (byte) 'x');
        return streams.stream()
                .map(stream -> ByteBufUtil.getBytes(Requests.append(stream, value)))
                .toArray(byte[][]::new);
    }

    private static Measurement measurement(Window window, List<AppendLoop> loops, CpuTimes used) throws IOException {
        Histogram all = new Histogram(DIGITS);
        long errors = 0;
        for (AppendLoop loop : loops) {
            all.add(loop.nanos());
            errors += loop.errors();
        }
        if (all.getTotalCount() == 0) {
            throw new IOException(
                    "no append succeeded; the first problem: " + loops.get(0).firstError());
        }
        Measurement measurement = new Measurement()
                .with(Figure.REQUESTS_PER_SECOND, all.getTotalCount() * NANOS_PER_SECOND / window.nanos())
                .latencies(all, TimeUnit.NANOSECONDS)
                .with(Figure.ERRORS, errors);
        used.addTo(measurement, all.getTotalCount());
        return measurement;
    }

    @Override
    public Table table() {
        return new Table(
                "Appends over HTTP",
                "`POST` of values of " + VALUE_BYTES + " bytes from " + CONNECTIONS + " connections for "
                        + length.toMillis() + " ms, after " + warmUp.toMillis()
                        + " ms to warm up; each sends its next request when the last is answered, or keeps"
                        + " " + PIPELINED + " outstanding. The client is the same for all:"
                        + " " + HttpClient.DESCRIPTION + "."
                        + (errors.isEmpty() ? "" : " Errors: " + String.join("; ", errors) + "."),
                results);
    }
}
