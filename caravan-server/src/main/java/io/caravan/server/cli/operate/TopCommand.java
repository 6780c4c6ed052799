package io.caravan.server.cli.operate;

import io.caravan.server.cli.client.ClientCommand;
import io.caravan.server.cli.client.ServerConnection;
import io.caravan.server.cli.common.CliCommand.ReadOnly;
import io.caravan.server.cli.common.Output;
import io.caravan.server.cli.operate.TopReport.Sample;
import io.caravan.server.config.Quantities;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
        name = "top",
        description = {
            "Prints a report of the activity of a server at each interval, until Ctrl-C: rates, acknowledgment times,"
                    + " log, checkpoints, space, archive, role in a cluster, and the clients that sent the most commands"
                    + " over RESP. If the connection is lost, waits for the server. Requires the admin permission.",
            "As JSON, each report is one line: the rates, then the sections of 'caravan stat --json'. The console shows"
                    + " the same statistics in a browser."
        },
        footer = {
            "  caravan top",
            "  caravan top --count 1",
            "  caravan top --interval 10s --count 6 --json",
            "  caravan top --server db.example:6380 --tls --password-file admin.secret"
        })
public final class TopCommand extends ClientCommand implements ReadOnly {
    private static final Duration SHORTEST = Duration.ofMillis(100);

    @Option(
            names = "--interval",
            paramLabel = "TIME",
            defaultValue = "2s",
            converter = Quantities.Time.class,
            description = "Time between two reports, over which the rates are computed; at least 100ms.")
    private Duration interval;

    @Option(names = "--count", paramLabel = "N", description = "Number of reports after which the command ends.")
    private @Nullable Long count;

    private final CountDownLatch stop = new CountDownLatch(1);

    @Override
    protected void run(Output output) throws IOException {
        check(interval.compareTo(SHORTEST) >= 0, "--interval must be at least 100ms");
        long most = atLeast(1, count, "--count", Long.MAX_VALUE);
        runUntilSignal(stop::countDown, () -> printReports(most, output));
    }

    private void printReports(long most, Output output) throws IOException {
        // A server that is unreachable at the start is more likely a mistake than a restart, so the command fails.
        Sample before = sample();
        String reported = "";
        for (long printed = 0; printed < most && !stopped(stop, interval.toMillis()); ) {
            try {
                Sample after = sample();
                print(new TopReport(before, after), printed == 0, output);
                before = after;
                reported = "";
                printed++;
            } catch (ServerConnection.LostException lost) {
                String message = lost.getMessage() + "; waiting for the server";
                if (!message.equals(reported)) {
                    printMessage(message);
                }
                reported = message;
            }
        }
    }

    private Sample sample() throws IOException {
        try (ServerConnection connection = connect()) {
            return Sample.take(connection);
        }
    }

    private void print(TopReport report, boolean first, Output output) throws IOException {
        if (json()) {
            output.object(report.fields());
        } else {
            if (!first) {
                output.line("");
            }
            for (String line : report.lines()) {
                output.line(line);
            }
        }
        output.flush();
    }
}
