package io.caravan.server.cli.client;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.server.cli.Main;
import io.caravan.server.cli.common.Console;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.Writer;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;

/** A run of a command in this JVM, with its input and output. */
public final class CommandRun {
    private final Console console;
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final StringWriter err = new StringWriter();
    private final boolean broken;
    private String command = "";
    private int exitCode = -1;

    private CommandRun(Map<String, String> environment, InputStream in, boolean terminal) {
        console = new Console(in, out, environment, terminal);
        broken = false;
    }

    private CommandRun(OutputStream brokenOut) {
        console = new Console(InputStream.nullInputStream(), brokenOut, Map.of(), false);
        broken = true;
    }

    /** Returns a run that has not started, with this environment and this standard input. */
    public static CommandRun with(Map<String, String> environment, byte[] in) {
        return new CommandRun(environment, new ByteArrayInputStream(in), false);
    }

    /** Returns a run that has not started and whose input may block. */
    public static CommandRun with(InputStream in) {
        return new CommandRun(Map.of(), in, false);
    }

    /** Returns a run that has not started and whose streams are connected to a terminal. */
    public static CommandRun onTerminal() {
        return new CommandRun(Map.of(), InputStream.nullInputStream(), true);
    }

    /** Returns a run that has not started and whose output fails with this message, as on a full disk. */
    public static CommandRun withBrokenOutput(String problem) {
        return new CommandRun(new OutputStream() {
            @Override
            public void write(int b) throws IOException {
                throw new IOException(problem);
            }
        });
    }

    /** Returns these words, followed by more words. */
    public static String[] words(List<String> words, String... more) {
        return Stream.concat(words.stream(), Stream.of(more)).toArray(String[]::new);
    }

    /** Runs a command that connects to this server. */
    public static CommandRun of(ServedStore served, String... words) {
        return at(served.address(), words);
    }

    /** Runs a command against the server at this address, or without {@code --server} if the address is null. */
    public static CommandRun at(@Nullable String address, String... words) {
        return with(Map.of(), new byte[0]).run(address, words);
    }

    /** Returns an error stream that drops progress messages, which slow commands print after some seconds. */
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

    /** Runs the command that the first word names, with the {@code --server} option unless {@code address} is null. */
    public CommandRun run(@Nullable String address, String... words) {
        List<String> first = address == null ? List.of(words[0]) : List.of(words[0], "--server", address);
        command = String.join(" ", words);
        String[] args = words(first, Arrays.copyOfRange(words, 1, words.length));
        CommandLine caravan = Main.commandLine(console.environment(), console, args);
        if (!broken) {
            caravan.setOut(new PrintWriter(out, true, UTF_8));
        }
        caravan.setErr(withoutProgress(err));
        exitCode = caravan.execute(args);
        return this;
    }

    /** Checks the exit code, and checks that the error output contains each of these messages. */
    public CommandRun exits(int expected, String... messages) {
        assertThat(exitCode).as(command + ": " + out() + err()).isEqualTo(expected);
        assertThat(List.of(messages))
                .as(command)
                .allSatisfy(message -> assertThat(err()).contains(message));
        return this;
    }

    /** Checks that the command succeeded without a message. */
    public CommandRun succeeds() {
        assertThat(err()).as(command).isEmpty();
        return exits(0);
    }

    /** Checks that the command succeeded with this output and without a message. */
    public CommandRun prints(String expected) {
        succeeds();
        assertThat(out()).as(command).isEqualTo(expected);
        return this;
    }

    public int exitCode() {
        return exitCode;
    }

    /** Returns the output so far. */
    public String out() {
        return out.toString(UTF_8);
    }

    public byte[] outBytes() {
        return out.toByteArray();
    }

    public String err() {
        return err.toString();
    }
}
