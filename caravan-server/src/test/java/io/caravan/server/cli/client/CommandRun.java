package io.caravan.server.cli.client;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.caravan.server.cli.Main;
import io.caravan.server.cli.common.Console;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.Writer;
import java.util.Arrays;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;

/** A run of a command in this JVM, with its input and output. */
public final class CommandRun {
    private final Console console;
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final StringWriter err = new StringWriter();
    private int exitCode = -1;

    private CommandRun(Map<String, String> environment, byte[] in) {
        this(environment, new ByteArrayInputStream(in), false);
    }

    private CommandRun(Map<String, String> environment, InputStream in, boolean terminal) {
        console = new Console(in, out, environment, terminal);
    }

    /** Returns a run that has not started. */
    public static CommandRun with(Map<String, String> environment, byte[] in) {
        return new CommandRun(environment, in);
    }

    /** Returns a run that has not started and whose input may block. */
    public static CommandRun with(InputStream in) {
        return new CommandRun(Map.of(), in, false);
    }

    /** Returns a run on a terminal that has not started. */
    public static CommandRun onTerminal() {
        return new CommandRun(Map.of(), InputStream.nullInputStream(), true);
    }

    public static CommandRun of(ServedStore served, String... words) {
        return with(Map.of(), new byte[0]).run(served.address(), words);
    }

    /**
     * Returns an error stream without progress messages, which commands print after some seconds, so only on a busy
     * machine.
     */
    public static PrintWriter withoutProgress(Writer err) {
        return new PrintWriter(err, true) {
            @Override
            public void println(@Nullable String line) {
                if (!Thread.currentThread().getName().startsWith("caravan-progress")) {
                    super.println(line);
                }
            }
        };
    }

    /**
     * Runs the command in the first word with the {@code --server} option, or without it if {@code address} is null.
     */
    public CommandRun run(@Nullable String address, String... words) {
        String[] server = address == null ? new String[0] : new String[] {"--server", address};
        CommandLine caravan = Main.commandLine(console.environment(), console);
        caravan.setOut(new PrintWriter(out, true, UTF_8));
        caravan.setErr(withoutProgress(err));
        exitCode =
                caravan.execute(Stream.of(new String[] {words[0]}, server, Arrays.copyOfRange(words, 1, words.length))
                        .flatMap(Stream::of)
                        .toArray(String[]::new));
        return this;
    }

    public int exitCode() {
        return exitCode;
    }

    /** Returns the output until now. */
    public String out() {
        return out.toString(UTF_8);
    }

    byte[] outBytes() {
        return out.toByteArray();
    }

    public String err() {
        return err.toString();
    }
}
