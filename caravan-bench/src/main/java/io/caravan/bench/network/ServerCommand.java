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

/** {@code scripts/bench server}: the server, as its clients see it, beside its peers. */
@Command(
        name = "server",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Caravan's server, with its defaults, in a process of its own, beside its peers on the same machine: each is"
                    + " started fresh and alone, in turn, several times, each time another one first; figures are medians. The force times of the"
                    + " machine itself are measured in every run.",
            "redis-server, redis-benchmark, node and npm are taken from the PATH; npm installs the Node server once,"
                    + " beside this program. What is missing is said in its row."
        })
public final class ServerCommand implements Callable<Integer> {
    @Option(
            names = "--only",
            split = ",",
            paramLabel = "PART",
            converter = Part.Converter.class,
            description = {
                "what to measure; default: all.",
                "redis: requests a second of redis-benchmark, RPUSH of 200 bytes on 10,000 lists from 50 connections, at"
                        + " -P 1, 16 and 64, and the server's processor time. Peers: Redis with appendfsync always,"
                        + " Redis without persistence.",
                "http: durable appends a second over HTTP from 64 connections, with one request under way on each, or"
                        + " 16. Peer: the Durable Streams protocol's own server on Node, with file storage.",
                "tails: time from when an append over HTTP is due to its value at a client that follows the stream, by"
                        + " long poll and by server-sent events. Peer: as above.",
                "document: 1 GiB in one document, in values of 64 KiB and of 1 KiB, read by LRANGE and by GET; the"
                        + " server has 64 MiB of heap; its memory before and after. Peer, for LRANGE: Redis.",
                "connections: memory that 10,000 idle connections and 1,000 live tails cost the server."
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
                        Stream.of(new MachineLimits(quick)),
                        parts.stream().map(part -> part.measure(quick).on(alone)))
                .toList();
    }
}
