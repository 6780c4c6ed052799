package io.caravan.bench.network;

import io.caravan.bench.report.Figure;
import io.caravan.bench.report.Measurement;
import io.caravan.bench.report.Results;
import io.caravan.bench.report.Table;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Measures the time from when an append was due until a client that follows the stream has its value. */
final class TailLatencies implements NetworkMeasure {
    private static final int STREAMS = 50;
    private static final int APPENDS_PER_SECOND = 200;

    private final Results results = new Results();
    private final Duration warmUp;
    private final Duration length;

    TailLatencies(boolean quick) {
        warmUp = Duration.ofMillis(quick ? 500 : 3_000);
        length = Duration.ofMillis(quick ? 2_000 : 8_000);
    }

    @Override
    public void run(Stage stage) throws IOException, InterruptedException {
        Comparison comparison = Comparison.ofTimes(results, Figure.P50_MILLIS);
        for (Subject subject : stage.inTurn(List.of(Caravan.asDelivered(), new ReferenceServer()))) {
            stage.with(subject, "append to tail", results, server -> {
                for (String mode : List.of(LongPollTail.MODE, EventStreamTail.MODE)) {
                    comparison.add("append to tail, " + mode, subject, measure(server, mode));
                }
            });
        }
    }

    private Measurement measure(RunningServer server, String mode) throws IOException, InterruptedException {
        try (HttpClient client = new HttpClient(server.http())) {
            Audience audience = Audience.gather(client, mode, STREAMS, List.of(mode));
            Window window = Window.after(warmUp, length);
            audience.measure(window);
            PacedAppends appends = new PacedAppends(client.connect(STREAMS), audience.streams());
            appends.run(APPENDS_PER_SECOND, window);
            long missed = audience.awaitHeard(appends.count());
            return new Measurement()
                    .latencies(audience.nanos(), TimeUnit.NANOSECONDS)
                    .with(Figure.MISSED, missed)
                    .with(Figure.ERRORS, appends.errors());
        }
    }

    @Override
    public Table table() {
        return new Table(
                "From append to tail",
                STREAMS + " streams, each followed by one client; " + APPENDS_PER_SECOND
                        + " appends a second in total, at fixed times however slow the answers are. Times count from"
                        + " when an append was due. One client appends and follows: " + HttpClient.DESCRIPTION + ".",
                results);
    }
}
