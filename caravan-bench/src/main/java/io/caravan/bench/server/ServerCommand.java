package io.caravan.bench.server;

import io.caravan.bench.report.Course;
import io.caravan.bench.report.Measure;
import java.io.IOException;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code scripts/bench server}: compares the server with its peers, as measured from the client side. */
@Command(
        name = "server",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Compares the server of Caravan, with default settings and in its own process, with its peers on the same"
                    + " machine. Each server is started again and alone in each run, in a rotating order; the results are"
                    + " medians. Every run also measures the fsync times of the machine.",
            "Uses redis-server, redis-benchmark, durable-streams-server, node and npm from the PATH; npm installs the"
                    + " Node server once, next to this program. If something is missing, its row states this."
        })
public final class ServerCommand implements Callable<Integer> {
    /** The parts of this benchmark, in the order in which they run by default. */
    enum Part {
        REDIS,
        HTTP,
        FOLLOWERS;

        /** Returns the name that selects this part on the command line. */
        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    @Option(
            names = "--only",
            split = ",",
            paramLabel = "PART",
            description = {
                "what to measure, one or more of ${COMPLETION-CANDIDATES}; default: all.",
                "redis: requests per second of redis-benchmark, RPUSH of 200 bytes on 10,000 lists from 50"
                        + " connections, at -P 1, 16 and 64, and the server's processor time. Peers: Redis with"
                        + " appendfsync always, Redis without persistence.",
                "http: durable appends per second over HTTP from 64 connections, with one or 16 outstanding requests"
                        + " on each. Peers: the Durable Streams reference server on Node, with file storage, and"
                        + " durable-streams-server with fsynced file storage.",
                "followers: the time from an append until 1,000 followers receive it, and the memory of a server with"
                        + " up to 9,000 followed streams. Peers: as for http."
            })
    private @Nullable List<Part> only;

    @Option(names = "--alone", description = "Caravan without its peers")
    private boolean alone;

    @Mixin
    private final Course course = new Course();

    @Override
    public Integer call() throws IOException, InterruptedException {
        return course.runAfterLimits(only, Part.values(), this::measure);
    }

    private Measure measure(Part part) {
        return switch (part) {
            case REDIS -> new RespRates(course.quick(), alone);
            case HTTP -> new HttpRates(course.quick(), alone);
            case FOLLOWERS -> new HttpFollowers(course.quick(), alone);
        };
    }
}
