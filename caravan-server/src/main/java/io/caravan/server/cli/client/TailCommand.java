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

/** Prints a document's values as they come. */
@Command(
        name = "tail",
        description = {
            "Prints the values of a document as they are appended, until it is closed or deleted, or until Ctrl-C. A lost"
                    + " connection is made again, and printing goes on where it was, without loss or repetition.",
            "A document that does not exist yet is waited for. Values are printed as get prints them."
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
            description = "Begin with this sequence, or with the next value that is appended.")
    private Start from;

    @Option(names = "--count", paramLabel = "N", description = "End after so many values.")
    private @Nullable Long count;

    @Mixin
    private ValuePrinter printer;

    TailCommand(Console console) {
        super(console);
    }

    /** Where to begin; empty is {@code now}. */
    record Start(OptionalLong sequence) {
        /** For the option. */
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
        runUntilTold(follower, output);
    }

    /**
     * Follows, and makes Ctrl-C and SIGTERM the usual end of it: the value that is being printed is finished, and the
     * process ends with 0 from within its own shutdown, because it is what the person wanted.
     */
    private void runUntilTold(Follower follower, Output output) throws IOException {
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
            // The signal came at this moment, and the hook ends the process.
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
