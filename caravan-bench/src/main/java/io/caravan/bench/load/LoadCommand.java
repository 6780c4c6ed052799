package io.caravan.bench.load;

import java.io.IOException;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code scripts/bench load}: appends at a fixed rate to a running server. */
@Command(
        name = "load",
        mixinStandardHelpOptions = true,
        showDefaultValues = true,
        sortOptions = false,
        description = {
            "Appends at a fixed rate (RPUSH, open loop) to a server on this machine, and reports how long each"
                    + " append waited, counted from when it was due.",
            "First warms up for up to three seconds on a built-in server that does nothing. Also reports how late it"
                    + " sent requests; if that exceeds 5 ms at p99.9, the times are mostly those of this program.",
            "Keeps one core busy. The exit status is 1 if a request failed or got no reply."
        })
public final class LoadCommand implements Callable<Integer> {
    @Option(
            names = "--port",
            paramLabel = "PORT",
            description = "the port on which the server listens for RESP",
            defaultValue = "6380")
    private int port;

    @Option(names = "--rate", paramLabel = "N", description = "appends per second", defaultValue = "16000")
    private int rate;

    @Option(names = "--connections", paramLabel = "N", description = "number of connections", defaultValue = "50")
    private int connections;

    @Option(names = "--seconds", paramLabel = "N", description = "duration", defaultValue = "20")
    private int seconds;

    @Option(names = "--documents", paramLabel = "N", description = "number of documents", defaultValue = "10000")
    private int documents;

    @Option(
            names = "--value",
            paramLabel = "BYTES",
            description = "length of each value, 0 to 65536",
            defaultValue = "191")
    private int valueBytes;

    @Option(names = "--seed", paramLabel = "S", description = "seed that chooses the documents", defaultValue = "1")
    private long seed;

    @Spec
    private @Nullable CommandSpec spec;

    @Override
    public Integer call() throws IOException {
        positive("--rate", rate);
        positive("--connections", connections);
        positive("--seconds", seconds);
        positive("--documents", documents);
        check(
                valueBytes >= 0 && valueBytes <= OpenLoop.MAX_VALUE_BYTES,
                "--value must be from 0 to " + OpenLoop.MAX_VALUE_BYTES);
        var plan = new OpenLoop.Plan(rate, connections, seconds, documents, valueBytes, seed);
        var server = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
        var protocol = new RespAppends(valueBytes);
        OpenLoop.warmUp(plan, protocol);
        OpenLoop.Outcome outcome = new OpenLoop(plan, protocol, server).run();
        PrintStream out = System.out;
        out.printf(
                Locale.ROOT,
                "%,d appends per second over %d connections for %d s: %,d replies, %,d errors, %,d without a reply%n",
                rate,
                connections,
                seconds,
                outcome.all().getTotalCount() - outcome.withoutReply(),
                outcome.errors(),
                outcome.withoutReply());
        print(out, "all", outcome.all());
        print(out, "first second", outcome.first());
        print(out, "sent late by", outcome.late());
        if (outcome.clientTooSlow()) {
            out.println("UNRELIABLE: this program could not keep up, so the times above are partly its own; give it"
                    + " a core to itself, or lower --rate");
        }
        return outcome.errors() + outcome.withoutReply() == 0 ? 0 : 1;
    }

    private static void print(PrintStream out, String what, Histogram micros) {
        out.printf(
                Locale.ROOT,
                "%-12s  p50 %,d us, p98 %,d us, p99 %,d us, p99.9 %,d us, longest %,d us%n",
                what,
                micros.getValueAtPercentile(50),
                micros.getValueAtPercentile(98),
                micros.getValueAtPercentile(99),
                micros.getValueAtPercentile(99.9),
                micros.getMaxValue());
    }

    private void positive(String option, int value) {
        check(value >= 1, option + " must be 1 or more");
    }

    private void check(boolean holds, String otherwise) {
        if (!holds && spec != null) {
            throw new ParameterException(spec.commandLine(), otherwise);
        }
    }
}
