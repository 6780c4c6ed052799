package io.caravan.torture.replay;

import io.caravan.DurableListStore;
import io.caravan.bench.Programs;
import io.caravan.bench.ProgressLine;
import io.caravan.testing.ServerProcess;
import io.caravan.torture.Evidence;
import io.caravan.torture.replay.Player.ReplayException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code scripts/replay}: replays recorded editing sessions against a store or a server. */
@Command(
        name = "replay",
        mixinStandardHelpOptions = true,
        description = {
            "Replays recorded editing sessions as a document server would: each transaction is one append, and"
                    + " regular snapshots of the text replace everything before them.",
            "At the end, and after each kill, the text is rebuilt from the retained entries alone and compared with the"
                    + " recorded one. Exits with 1 if it differs or anything acknowledged is missing."
        },
        footer = {
            "",
            "Examples:",
            "  replay session.json.gz                             a store in this process",
            "  replay session.json.gz --kill 5                    a new server, killed 5 times",
            "  replay session.json.gz --server 127.0.0.1:6380     a running server",
            "  replay session.json.gz --server spawn              a new server"
        })
public final class ReplayMain implements Callable<Integer> {
    private static final String SPAWN = "spawn";
    private static final int MAX_PORT = 65535;

    @Parameters(
            arity = "1..*",
            paramLabel = "FILE",
            description = "gzipped JSON: startContent, endContent, and txns with patches [position, deleted, inserted]")
    private List<Path> files = List.of();

    @Option(
            names = "--server",
            paramLabel = "HOST:PORT|spawn",
            description = "replay over RESP against this server, or with spawn against a new one; default: an"
                    + " embedded store, or with --kill a new server")
    private @Nullable String server;

    @Option(
            names = "--kill",
            paramLabel = "N",
            description = "kill the server with SIGKILL N times during the replay; start it again, check and continue")
    private int kills;

    @Option(
            names = "--window",
            paramLabel = "N",
            description = "maximum number of outstanding appends; default" + " ${DEFAULT-VALUE}")
    private int window = 64;

    @Option(
            names = "--snapshot-every",
            paramLabel = "N",
            description = "transactions between snapshots; default ${DEFAULT-VALUE}")
    private int snapshotEvery = 500;

    @Mixin
    private final Evidence evidence = new Evidence();

    public static void main(String[] arguments) {
        System.exit(Programs.run(new ReplayMain(), arguments));
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        checkOptions();
        return evidence.run(this::replayAll);
    }

    private boolean replayAll(Path work) throws IOException, InterruptedException {
        for (Path file : files) {
            if (!replay(file, work)) {
                return false;
            }
        }
        return true;
    }

    private boolean replay(Path file, Path work) throws IOException, InterruptedException {
        System.out.println(file.getFileName() + (kills > 0 ? ", seed " + evidence.seed() : ""));
        Trace trace = Trace.read(file);
        Path own = Files.createTempDirectory(work, "store");
        Player.Options options = new Player.Options(window, snapshotEvery, kills, evidence.seed());
        try (Target target = target(own, file)) {
            System.out.println(new Player(trace, target, options, new ProgressLine(System.err)).play());
            return true;
        } catch (ReplayException different) {
            System.out.println("  FAILED: " + different.getMessage());
            return false;
        }
    }

    private Target target(Path own, Path file) throws IOException {
        Path store = own.resolve("data");
        Path log = own.resolve("process.log");
        String key = "replay:" + file.getFileName() + ":" + evidence.seed();
        if (server == null && kills == 0) {
            return new EmbeddedTarget("embedded, durable", () -> DurableListStore.open(store));
        }
        return server == null || server.equals(SPAWN)
                ? RespTarget.spawned(new ServerProcess(store, log), key)
                : RespTarget.running(address(server), key);
    }

    private InetSocketAddress address(String hostAndPort) {
        int colon = hostAndPort.lastIndexOf(':');
        evidence.check(
                colon > 0 && hostAndPort.substring(colon + 1).matches("\\d{1,5}"),
                "--server must be HOST:PORT or spawn");
        int port = Integer.parseInt(hostAndPort.substring(colon + 1));
        evidence.check(port >= 1 && port <= MAX_PORT, "--server: invalid port " + port);
        return new InetSocketAddress(hostAndPort.substring(0, colon), port);
    }

    private void checkOptions() {
        evidence.check(kills >= 0, "--kill must be 0 or more");
        evidence.check(
                kills == 0 || server == null || server.equals(SPAWN),
                "--kill cannot kill a server that was started elsewhere; use --server spawn");
        evidence.check(window >= 1, "--window must be 1 or more");
        evidence.check(snapshotEvery >= 1, "--snapshot-every must be 1 or more");
        for (Path file : files) {
            evidence.check(Files.isReadable(file), "cannot read " + file);
        }
    }
}
