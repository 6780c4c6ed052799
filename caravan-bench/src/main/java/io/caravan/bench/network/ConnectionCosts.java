package io.caravan.bench.network;

import io.caravan.bench.report.Figure;
import io.caravan.bench.report.Measurement;
import io.caravan.bench.report.Results;
import io.caravan.bench.report.Results.Row;
import io.caravan.bench.report.Table;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** The server's memory for idle connections and for clients that follow streams. */
final class ConnectionCosts implements NetworkMeasure {
    private static final Subject CARAVAN = Caravan.asDelivered();
    private static final int IDLE = 10_000;
    private static final int QUICK_IDLE = 200;
    private static final int TAILED_STREAMS = 100;
    private static final int QUICK_TAILED_STREAMS = 5;
    private static final int TAILS_OF_A_MODE = 5;
    /** Files that a process needs besides its connections. */
    private static final int OTHER_FILES = 1_000;

    private static final int WARM_UP = 100;

    private static final String PING = "PING\r\n";
    private static final String HEAD = "HEAD /v1/stream/none HTTP/1.1\r\nHost: " + Ports.HOST + "\r\n\r\n";

    private final Results results = new Results();
    private final int idle;
    private final int streams;

    ConnectionCosts(boolean quick) {
        idle = quick ? QUICK_IDLE : IDLE;
        streams = quick ? QUICK_TAILED_STREAMS : TAILED_STREAMS;
    }

    @Override
    public void run(Stage stage) throws IOException, InterruptedException {
        long files = OpenFiles.limit();
        if (files < idle + OTHER_FILES) {
            results.absent(
                    idle + " idle connections",
                    Caravan.NAME,
                    "a process may open " + files + " files here, but needs " + (idle + OTHER_FILES)
                            + "; raise ulimit -n");
        } else {
            idle(stage, idle + " idle connections, RESP", PING);
            idle(stage, idle + " idle connections, HTTP", HEAD);
        }
        tails(stage);
    }

    private void idle(Stage stage, String workload, String request) throws IOException, InterruptedException {
        stage.with(CARAVAN, workload, results, server -> {
            InetSocketAddress address = request.equals(PING) ? server.resp() : server.http();
            IdleConnections.open(address, request, WARM_UP).close();
            Footprint before = Footprint.of(server);
            try (IdleConnections connections = IdleConnections.open(address, request, idle)) {
                Measurement measurement = before.growthTo(Footprint.of(server), idle);
                results.add(row(workload), measurement.with(Figure.ERRORS, idle - connections.open()));
            }
        });
    }

    private void tails(Stage stage) throws IOException, InterruptedException {
        List<String> modes = new ArrayList<>(Collections.nCopies(TAILS_OF_A_MODE, LongPollTail.MODE));
        modes.addAll(Collections.nCopies(TAILS_OF_A_MODE, EventStreamTail.MODE));
        int tails = streams * modes.size();
        String workload = tails + " live tails, half of them long polls, half event streams";
        stage.with(CARAVAN, workload, results, server -> {
            try (HttpClient client = new HttpClient(server.http())) {
                Audience.gather(client, "warm-up", 2, modes);
                Footprint before = Footprint.of(server);
                Audience audience = Audience.gather(client, "tailed", streams, modes);
                PacedAppends appends = new PacedAppends(client.connect(1), audience.streams());
                // A tail that has received something is connected.
                appends.once();
                audience.awaitHeard(tails);
                Measurement measurement = before.growthTo(Footprint.of(server), tails);
                appends.once();
                measurement.with(Figure.MISSED, audience.awaitHeard(2L * tails)).with(Figure.ERRORS, appends.errors());
                results.add(row(workload), measurement);
            }
        });
    }

    private static Row row(String workload) {
        return new Row(workload, CARAVAN.name(), CARAVAN.durability());
    }

    @Override
    public Table table() {
        return new Table(
                "Connections",
                "Each idle connection has made one request and received the answer. The tails follow " + streams
                        + " streams, each of which gets a value before and after memory is measured; every tail must"
                        + " receive both. All figures are taken after a full collection.",
                results);
    }
}
