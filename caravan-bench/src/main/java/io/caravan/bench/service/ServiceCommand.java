package io.caravan.bench.service;

import io.caravan.bench.load.OpenLoop.Plan;
import io.caravan.bench.report.Course;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * {@code scripts/bench service}: measures a live service as its clients experience it, starting with the first second
 * of a fresh server.
 */
@Command(
        name = "service",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Appends at a fixed rate, from the first second of a fresh server, each sent when it is due and timed"
                    + " from then: how many were sent, acknowledged, and rejected in each second, and how long they"
                    + " waited.",
            "Over RESP: Caravan with default settings (fsynced before the reply), Redis with appendfsync always, and"
                    + " Redis with appendfsync everysec, which replies before it syncs. Over HTTP: Caravan, and the"
                    + " Durable Streams reference server on Node with file storage.",
            "Uses redis-server, node and npm from the PATH; npm installs the Node server once, next to this program."
                    + " If something is missing, its row states this. The client keeps one core busy, and reports its"
                    + " own delay. All runs take about five minutes.",
            "To measure a server that is already running on this machine, use `bench load`."
        })
public final class ServiceCommand implements Callable<Integer> {
    private static final int RATE = 16_000;
    private static final int HTTP_RATE = 1_000;
    private static final int CONNECTIONS = 50;
    private static final int SECONDS = 8;
    private static final int QUICK_RATE = 500;
    private static final int QUICK_CONNECTIONS = 5;
    private static final int DOCUMENTS = 10_000;
    private static final int STREAMS = 64;
    private static final int VALUE_BYTES = 200;
    private static final long SEED = 1;

    @Option(names = "--rate", paramLabel = "N", description = "appends per second over RESP; default " + RATE)
    private @Nullable Integer rate;

    @Option(
            names = "--http-rate",
            paramLabel = "N",
            description = "appends per second over HTTP; default " + HTTP_RATE
                    + ", a third of the reference server's maximum")
    private @Nullable Integer httpRate;

    @Option(names = "--connections", paramLabel = "N", description = "number of connections; default " + CONNECTIONS)
    private @Nullable Integer connections;

    @Option(names = "--seconds", paramLabel = "N", description = "duration of each load; default " + SECONDS)
    private @Nullable Integer seconds;

    @Option(names = "--alone", description = "Caravan without its peers")
    private boolean alone;

    @Mixin
    private final Course course = new Course();

    @Override
    public Integer call() throws IOException, InterruptedException {
        boolean quick = course.quick();
        int connectionCount = positive("--connections", connections, quick ? QUICK_CONNECTIONS : CONNECTIONS);
        int length = positive("--seconds", seconds, quick ? 1 : SECONDS);
        int respRate = positive("--rate", rate, quick ? QUICK_RATE : RATE);
        int postRate = positive("--http-rate", httpRate, quick ? QUICK_RATE : HTTP_RATE);
        LiveService resp = new LiveService(
                Front.resp(new Plan(respRate, connectionCount, length, DOCUMENTS, VALUE_BYTES, SEED)), alone, quick);
        LiveService http = new LiveService(
                Front.http(new Plan(postRate, connectionCount, length, STREAMS, VALUE_BYTES, SEED)), alone, quick);
        course.run(List.of(resp, resp.eachSecond(), http, http.eachSecond()));
        return 0;
    }

    private int positive(String option, @Nullable Integer value, int otherwise) {
        int chosen = value == null ? otherwise : value;
        course.check(chosen >= 1, option + " must be 1 or more");
        return chosen;
    }
}
