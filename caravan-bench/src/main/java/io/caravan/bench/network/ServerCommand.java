package io.caravan.bench.network;

import io.caravan.bench.Directories;
import io.caravan.bench.Machine;
import io.caravan.bench.WorkDirectory;
import io.caravan.bench.report.Report;
import java.io.IOException;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

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
    private static final int RUNS = 3;

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
                "load: the waits of 16,000 appends a second over 50 connections, from the moment at which a fresh server"
                        + " serves. Peer: Redis with appendfsync always.",
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

    @Option(names = "--quick", description = "tiny counts and one run: shows that it works, says nothing of speed")
    private boolean quick;

    @Option(names = "--runs", paramLabel = "N", description = "times that each is run; default 3, with --quick 1")
    private int runs;

    @Option(names = "--out", paramLabel = "DIR", description = "where server.md and server.json go; default: nowhere")
    private @Nullable Path out;

    @Option(
            names = "--dir",
            paramLabel = "DIR",
            description =
                    "on the disk to measure: missing or empty; default: a temporary directory; emptied afterwards")
    private @Nullable Path directory;

    @Spec
    private @Nullable CommandSpec spec;

    @Override
    public Integer call() throws IOException, InterruptedException {
        check(directory == null || Directories.missingOrEmpty(directory), "--dir must be missing or empty");
        check(runs >= 0, "--runs must be 1 or more");
        try (WorkDirectory made = WorkDirectory.make(directory)) {
            measure(made.path());
        }
        return 0;
    }

    /** The report is written after every run, so that what was measured is there even if something fails later. */
    private void measure(Path work) throws IOException, InterruptedException {
        Map<String, String> facts = Machine.facts(work);
        List<NetworkMeasure> measures = measures();
        int times = runs > 0 ? runs : quick ? 1 : RUNS;
        for (int run = 1; run <= times; run++) {
            Stage stage = new Stage(work, run, alone, "run " + run + " of " + times);
            for (NetworkMeasure measure : measures) {
                measure.run(stage);
            }
            report(facts, measures);
        }
        System.out.println(report(facts, measures));
        if (out != null) {
            System.out.println("written to " + out);
        }
    }

    private List<NetworkMeasure> measures() {
        List<Part> parts = only == null ? List.copyOf(EnumSet.allOf(Part.class)) : only;
        return Stream.concat(Stream.of(new MachineLimits(quick)), parts.stream().map(part -> part.measure(quick)))
                .toList();
    }

    private Report report(Map<String, String> facts, List<NetworkMeasure> measures) throws IOException {
        Report report = new Report(
                "server", facts, measures.stream().map(NetworkMeasure::table).toList());
        if (out != null) {
            report.writeTo(out);
        }
        return report;
    }

    private void check(boolean holds, String message) {
        if (!holds && spec != null) {
            throw new ParameterException(spec.commandLine(), message);
        }
    }
}
