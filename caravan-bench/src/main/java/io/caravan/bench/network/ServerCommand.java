package io.caravan.bench.network;

import io.caravan.bench.report.Course;
import io.caravan.bench.report.MachineLimits;
import io.caravan.bench.report.Measure;
import java.io.IOException;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code scripts/bench server}: measures the server from the client side, compared with its peers. */
@Command(
        name = "server",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Caravan's server, with default settings and in its own process, beside its peers on the same machine."
                    + " Each is started fresh and alone, in turn, several times in a rotating order; figures are"
                    + " medians. Every run also measures the force times of the machine.",
            "Uses redis-server, redis-benchmark, node and npm from the PATH; npm installs the Node server once,"
                    + " beside this program. If something is missing, its row says so."
        })
public final class ServerCommand implements Callable<Integer> {
    @Option(
            names = "--only",
            split = ",",
            paramLabel = "PART",
            description = {
                "what to measure, one or more of ${COMPLETION-CANDIDATES}; default: all.",
                "redis: requests a second of redis-benchmark, RPUSH of 200 bytes on 10,000 lists from 50 connections, at"
                        + " -P 1, 16 and 64, and the server's processor time. Peers: Redis with appendfsync always,"
                        + " Redis without persistence.",
                "http: durable appends a second over HTTP from 64 connections, with one or 16 outstanding requests"
                        + " on each. Peer: the Durable Streams reference server on Node, with file storage."
            })
    private @Nullable List<Part> only;

    @Option(names = "--alone", description = "Caravan without its peers")
    private boolean alone;

    @Mixin
    private final Course course = new Course();

    @Override
    public Integer call() throws IOException, InterruptedException {
        course.run(measures());
        return 0;
    }

    private List<Measure> measures() {
        List<Part> parts = only == null ? List.copyOf(EnumSet.allOf(Part.class)) : only;
        boolean quick = course.quick();
        return Stream.concat(
                        Stream.of(new MachineLimits(quick)), parts.stream().map(part -> part.measure(quick, alone)))
                .toList();
    }
}
