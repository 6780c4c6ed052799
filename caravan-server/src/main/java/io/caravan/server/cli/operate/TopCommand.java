package io.caravan.server.cli.operate;

import io.caravan.server.cli.client.ClientCommand;
import io.caravan.server.cli.client.ServerConnection;
import io.caravan.server.cli.common.CliCommand.ReadOnly;
import io.caravan.server.cli.common.Output;
import io.caravan.server.cli.operate.Rates.Busy;
import io.caravan.server.cli.operate.Rates.Sample;
import io.caravan.server.config.Quantities;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.jline.terminal.Terminal;
import org.jline.terminal.TerminalBuilder;
import org.jline.utils.AttributedString;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
        name = "top",
        description = {
            "Shows the activity of a server until Ctrl-C: rates, acknowledgment times, log, checkpoints, space,"
                    + " archive, and the clients that sent the most commands over RESP. If the connection is lost,"
                    + " waits for the server. Requires the admin permission.",
            "On a terminal, the command redraws the screen, and these keys work: q quits, p or space pauses or"
                    + " resumes. Otherwise, it prints one sample after another, as lines without color. As JSON, each sample is one line: the rates, then the"
                    + " sections of 'caravan stat --json'."
        },
        footer = {
            "  caravan top",
            "  caravan top --count 1",
            "  caravan top --interval 10s --count 6 --json",
            "  caravan top --server db.example:6380 --tls --password-file admin.secret"
        })
public final class TopCommand extends ClientCommand implements ReadOnly {
    private static final int DECIMALS = 3;
    private static final Duration SHORTEST = Duration.ofMillis(100);

    @Option(
            names = "--interval",
            paramLabel = "TIME",
            defaultValue = "2s",
            converter = Quantities.Time.class,
            description = "Time between two samples, over which the rates are computed; at least 100ms.")
    private Duration interval;

    @Option(names = "--count", paramLabel = "N", description = "Number of samples after which the command ends.")
    private @Nullable Long count;

    private final CountDownLatch stop = new CountDownLatch(1);
    private @Nullable ServerConnection connection;

    @Override
    protected void run(Output output) throws IOException {
        check(interval.compareTo(SHORTEST) >= 0, "--interval must be at least 100ms");
        long most = atLeast(1, count, "--count", Long.MAX_VALUE);
        runUntilSignal(stop::countDown, () -> {
            try {
                showSamples(most, output);
            } catch (IOException | RuntimeException problem) {
                // After Ctrl-C, JLine closes the terminal while it is in use.
                if (!stopped(stop, 0)) {
                    throw problem;
                }
            } finally {
                disconnect();
            }
        });
    }

    private void showSamples(long most, Output output) throws IOException {
        // A server that is unreachable at the start is more likely a mistake than a restart, so the command fails.
        Sample before = sample();
        try (LiveScreen screen = most == 1 ? null : screen()) {
            for (long shown = 0; shown < most; shown++) {
                Sample after = next(output, screen);
                if (after == null) {
                    return;
                }
                if (screen != null) {
                    screen.show(new Rates(before, after));
                } else {
                    print(output, new Rates(before, after), shown == 0);
                }
                before = after;
            }
        }
    }

    /** Returns the screen to draw on, or null if {@code --json} is set, or there is no terminal. */
    private @Nullable LiveScreen screen() throws IOException {
        if (json() || !console().showsProgress()) {
            return null;
        }
        // With native signals, Ctrl-C would end the process without running shutdown hooks. The probe for grapheme
        // clusters would query terminals that may not reply.
        Terminal terminal = TerminalBuilder.builder()
                .systemOutput(TerminalBuilder.SystemOutput.SysOut)
                .provider(TerminalBuilder.PROP_PROVIDER_EXEC)
                .nativeSignals(false)
                .graphemeCluster(false)
                .dumb(true)
                .build();
        if (terminal.getType().startsWith(Terminal.TYPE_DUMB)) {
            terminal.close();
            return null;
        }
        return new LiveScreen(terminal);
    }

    private Sample sample() throws IOException {
        if (connection == null) {
            connection = connect();
        }
        return Sample.take(connection);
    }

    /** Returns the next sample, after an interval or when the server is reachable again; null if the user quits. */
    private @Nullable Sample next(Output output, @Nullable LiveScreen screen) throws IOException {
        String reported = "";
        while (true) {
            if (screen == null ? stopped(stop, interval.toMillis()) : !screen.handleKeys(interval)) {
                return null;
            }
            try {
                return sample();
            } catch (ServerConnection.LostException lost) {
                disconnect();
                if (stopped(stop, 0)) {
                    return null;
                }
                String message = lost.getMessage() + "; waiting for the server";
                if (screen != null) {
                    screen.showProblem(message);
                } else if (!message.equals(reported)) {
                    output.flush();
                    printMessage(message);
                }
                reported = message;
            }
        }
    }

    private void disconnect() {
        if (connection != null) {
            connection.close();
            connection = null;
        }
    }

    private void print(Output output, Rates rates, boolean first) throws IOException {
        if (json()) {
            output.object(fields(rates));
        } else {
            if (!first) {
                output.line("");
            }
            for (AttributedString line : Screen.lines(rates)) {
                output.line(line.toString());
            }
        }
        output.flush();
    }

    private Map<String, ?> fields(Rates rates) {
        return Output.fields(
                "at",
                Instant.now().toString(),
                "seconds",
                rounded(rates.seconds()),
                "appendsPerSecond",
                rounded(rates.perSecond("appends")),
                "appendedBytesPerSecond",
                rounded(rates.perSecond("appended_bytes")),
                "readsPerSecond",
                rounded(rates.perSecond("reads")),
                "fsyncsPerSecond",
                rounded(rates.perSecond("log_fsyncs")),
                "logBytesPerSecond",
                rounded(rates.perSecond("log_bytes")),
                "busiestClients",
                rates.busiest().stream().map(TopCommand::fields).toList(),
                rates.after().info().fields());
    }

    private static Map<String, ?> fields(Busy busy) {
        return Output.fields(
                "address", busy.client().address(),
                "user", busy.client().user(),
                "name", busy.client().name(),
                "commands", busy.client().commands(),
                "commandsPerSecond", rounded(busy.commandsPerSecond()));
    }

    private static BigDecimal rounded(double value) {
        return new BigDecimal(value).setScale(DECIMALS, RoundingMode.HALF_UP);
    }
}
