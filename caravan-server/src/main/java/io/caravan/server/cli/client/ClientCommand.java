package io.caravan.server.cli.client;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.caravan.catalog.DocumentName;
import io.caravan.server.cli.common.Console;
import io.caravan.server.cli.common.Output;
import io.caravan.server.config.HostPort;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The base of all commands for a running server. */
@Command(
        showDefaultValues = true,
        sortOptions = false,
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:success",
            "1:failed: no server, no permission, no space, no file",
            "2:usage error",
            "3:the document is not as expected: missing, at another sequence, trimmed, closed; or its space refuses"
        },
        footerHeading = "%nExamples:%n")
@SuppressWarnings("NullAway.Init") // picocli sets the fields
public abstract class ClientCommand implements Callable<Integer> {
    private static final int LAST = ConnectionOptions.ORDER + 1;

    private final Console console;

    @Spec
    private CommandLine.Model.CommandSpec spec;

    @Mixin
    private ConnectionOptions connectionOptions;

    @Option(
            names = "--output",
            order = ConnectionOptions.ORDER - 1,
            paramLabel = "FORMAT",
            defaultValue = "text",
            description = "How to print results: ${COMPLETION-CANDIDATES}. json prints one object per line.")
    private Output.Format format;

    @Option(names = "--json", order = ConnectionOptions.ORDER - 1, description = "Short for --output json.")
    private boolean json;

    @Option(
            names = {"-h", "--help"},
            order = LAST,
            usageHelp = true,
            description = "Show this help and exit.")
    private boolean help;

    protected ClientCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() {
        boolean done = false;
        try (Output output = new Output(console.out())) {
            run(output);
            done = true;
            return exitCode();
        } catch (ClientException problem) {
            tell(String.valueOf(problem.getMessage()));
            return problem.exitCode();
        } catch (NoSuchFileException missing) {
            tell("there is no file '" + missing.getFile() + "'");
            return ClientException.FAILED;
        } catch (FileSystemException unreadable) {
            tell("the file '" + unreadable.getFile() + "' cannot be read: " + unreadable);
            return ClientException.FAILED;
        } catch (Output.ClosedException enough) {
            return done ? exitCode() : ended();
        } catch (ServerConnection.LostException | IOException problem) {
            tell(String.valueOf(problem.getMessage()));
            return ClientException.FAILED;
        }
    }

    /** Returns the exit code after the reader of the output has closed it. */
    private int ended() {
        if (onlyReads()) {
            return CommandLine.ExitCode.OK;
        }
        tell("the output was closed before the command was done");
        return ClientException.FAILED;
    }

    /** Whether the command is complete when its output is closed. */
    protected boolean onlyReads() {
        return false;
    }

    /**
     * Runs the command.
     *
     * @throws ClientException if it fails
     * @throws ServerConnection.LostException if the server cannot be reached
     */
    protected abstract void run(Output output) throws IOException;

    /** Returns the exit code after a run without failure. */
    protected int exitCode() {
        return CommandLine.ExitCode.OK;
    }

    protected final Console console() {
        return console;
    }

    protected final ServerConnection connect() throws IOException {
        return connectionOptions.connect(console.environment());
    }

    /**
     * Returns connectors to the leaders, one for each Raft group of the server's cluster. A server that is alone, or
     * leads the only group, is reached at the address of {@code --server}, because its own address may not be reachable
     * from here.
     *
     * @throws ClientException if a group has no leader
     */
    protected final List<ServerConnection.Connector> leaders() throws IOException {
        ServerInfo info;
        try (ServerConnection connection = connect()) {
            info = connection.info();
        }
        List<HostPort> found = ClusterLeaders.of(info);
        if (found.isEmpty() || found.size() == 1 && info.text("cluster_role").equals("leader")) {
            return List.of(this::connect);
        }
        return found.stream()
                .<ServerConnection.Connector>map(
                        leader -> () -> connectionOptions.connect(console.environment(), leader))
                .toList();
    }

    /** An action in each Raft group of a cluster. */
    protected interface InGroup {
        void run(ServerConnection leader) throws IOException;
    }

    /**
     * Runs an action at each of the {@link #leaders}.
     *
     * @throws ClientException if a group has no leader; no action was run then
     */
    protected final void inEachGroup(InGroup action) throws IOException {
        for (ServerConnection.Connector leader : leaders()) {
            try (ServerConnection connection = leader.connect()) {
                action.run(connection);
            }
        }
    }

    /** Connects to a second server, with the same timeout. */
    protected final Carrier carrierTo(OtherServer other) throws IOException {
        return other.carrier(connectionOptions, console.environment());
    }

    /** Connects to the source server, over HTTP if its address says so, with the same timeout. */
    protected final Carrier carrierFrom(SourceServer source) throws IOException {
        Carrier carrier = source.carrier(connectionOptions, console.environment());
        return carrier == null ? new RespCarrier(this::connect) : carrier;
    }

    /**
     * Checks that the source lists all documents. Over RESP, a node of a cluster lists only those of its own Raft
     * group. A server that fetches documents from its archive on demand lists only the fetched ones.
     *
     * @throws ClientException if documents may be missing
     */
    protected final void requireAllListed(SourceServer source) throws IOException {
        if (!source.isNamed() && leaders().size() > 1) {
            throw ClientException.failed(
                    "the server's cluster has several groups, of which it lists one over RESP: name any of"
                            + " its hosts with --from http://HOST:PORT, or https://HOST:PORT");
        }
        try (Carrier carrier = carrierFrom(source)) {
            requireComplete(carrier);
        }
    }

    /**
     * Checks that a server has, and therefore lists, all of its documents.
     *
     * @throws ClientException if some may be only in its archive
     */
    protected static void requireComplete(Carrier carrier) {
        // The state that the server reports is as recent as its last scan.
        carrier.scan(Documents.Names.before(), new byte[0]);
        if (carrier.about().incomplete()) {
            throw ClientException.otherState("the server lists only those of its documents that it has fetched from its"
                    + " archive so far (--archive-hydrate): stop it and fetch the rest, with 'caravan restore --archive"
                    + " URL --data DIR', or name the document");
        }
    }

    /** Connects to a Redis server, with the same timeout. */
    protected final RedisConnection connectTo(ImportSource redis) throws IOException {
        return redis.connect(connectionOptions, console.environment());
    }

    /** Returns a link to a Durable Streams server over HTTP, with the same timeout. */
    protected final HttpLink linkTo(ImportSource streams) throws IOException {
        return streams.link(connectionOptions, console.environment());
    }

    /** Returns the server's pages over HTTP, at this port of its host. */
    protected final HttpPages pages(int port) throws IOException {
        return connectionOptions.pages(console.environment(), port);
    }

    protected final Documents documents() throws IOException {
        return new Documents(connect());
    }

    /** Prints one result, as text or as a JSON object. */
    protected final void print(Output output, String line, Output.Fields fields) throws IOException {
        if (json()) {
            output.object(fields);
        } else {
            output.line(line);
        }
    }

    protected final boolean json() {
        return json || format == Output.Format.JSON;
    }

    /** Prints a message on the error stream. */
    protected final void tell(String message) {
        PrintWriter err = err();
        err.println("caravan: " + DocumentName.printable(message));
        err.flush();
    }

    protected final PrintWriter err() {
        return spec.commandLine().getErr();
    }

    protected final void check(boolean holds, String otherwise) {
        if (!holds) {
            throw new ParameterException(spec.commandLine(), otherwise);
        }
    }

    /** Returns a value that must be present. */
    protected final <T> T given(@Nullable T value, String otherwise) {
        check(value != null, otherwise);
        return Objects.requireNonNull(value);
    }

    /** Returns the number of an option after checking it, or {@code otherwise} if it is absent. */
    protected final long atLeast(long least, @Nullable Long given, String option, long otherwise) {
        check(given == null || given >= least, option + " must be " + least + " or more");
        return given == null ? otherwise : given;
    }

    /** Waits on this thread. */
    protected static void pause(Duration time) throws IOException {
        try {
            Thread.sleep(time.toMillis());
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", stop);
        }
    }

    /** Encodes a word of the command line as a name or value. */
    protected static byte[] bytes(String word) {
        return word.getBytes(UTF_8);
    }
}
