package io.caravan.server.cli.client;

import io.caravan.server.cli.common.Console;
import io.caravan.server.cli.common.Output;
import java.io.IOException;
import java.util.OptionalLong;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Prints a document's values as they are appended. */
@Command(
        name = "tail",
        description = {
            "Prints the values of a document as they are appended, until it is closed or deleted, or until Ctrl-C. If the"
                    + " connection is lost, reconnects and continues where it was, without loss or repetition.",
            "Waits for a document that does not exist yet. Prints values in the same form as get."
        },
        footer = {
            "  caravan tail logs/today",
            "  caravan tail letters/1 --from 0 --output json",
            "  caravan tail logs/today --from now --count 1"
        })
@SuppressWarnings("NullAway.Init") // picocli sets the fields
final class TailCommand extends ClientCommand {
    private static final int LAST_OUTPUT_SECONDS = 2;

    @Parameters(paramLabel = "NAME", description = "The document.")
    private String name;

    @Option(
            names = "--from",
            paramLabel = "SEQUENCE|now",
            defaultValue = "now",
            converter = Start.Converter.class,
            description = "Start at this sequence, or with the next value that is appended.")
    private Start from;

    @Option(names = "--count", paramLabel = "N", description = "Stop after this many values.")
    private @Nullable Long count;

    @Mixin
    private ValuePrinter printer;

    TailCommand(Console console) {
        super(console);
    }

    /** Where to start; empty is {@code now}. */
    record Start(OptionalLong sequence) {
        /** Converts the option. */
        static final class Converter implements CommandLine.ITypeConverter<Start> {
            @Override
            public Start convert(String text) {
                if (text.equals("now")) {
                    return new Start(OptionalLong.empty());
                }
                if (!text.matches("[0-9]{1,18}")) {
                    throw new CommandLine.TypeConversionException("'" + text + "' is neither a sequence nor now");
                }
                return new Start(OptionalLong.of(Long.parseLong(text)));
            }
        }
    }

    @Override
    protected void run(Output output) throws IOException {
        long most = atLeast(1, count, "--count", Long.MAX_VALUE);
        check(!printer.raw() || !json(), "--raw and --output json exclude each other");
        Follower follower = new Follower(this::connect, bytes(name), from.sequence(), most, this::tell);
        runUntilStopped(follower, output);
    }

    /**
     * Follows until Ctrl-C or SIGTERM, which are the usual end: finishes the value being printed, and exits with 0 from
     * the shutdown hook.
     */
    private void runUntilStopped(Follower follower, Output output) throws IOException {
        CountDownLatch done = new CountDownLatch(1);
        Thread hook = new Thread(() -> endProcess(follower, done), "caravan-tail-end");
        Runtime.getRuntime().addShutdownHook(hook);
        try {
            follower.follow(value -> printer.print(value, json(), output), output::flush);
            output.flush();
        } finally {
            done.countDown();
            if (!follower.stopped()) {
                removeHook(hook);
            }
        }
    }

    private static void removeHook(Thread hook) {
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException shuttingDown) {
            // The signal came at this moment: the hook ends the process.
        }
    }

    private static void endProcess(Follower follower, CountDownLatch done) {
        follower.stop();
        boolean printed = false;
        try {
            printed = done.await(LAST_OUTPUT_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException nobodyDoes) {
            Thread.currentThread().interrupt();
        }
        Runtime.getRuntime().halt(printed ? CommandLine.ExitCode.OK : CommandLine.ExitCode.SOFTWARE);
    }
}
