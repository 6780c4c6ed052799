package io.caravan.server.cli.cluster;

import io.caravan.server.cli.common.CliCommand;
import io.caravan.server.cli.common.Output;
import io.caravan.server.cluster.ClusterFile;
import io.caravan.server.cluster.ClusterNode;
import io.caravan.server.cluster.SlotRange;
import java.io.File;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
        name = "demo",
        description = {
            "Runs three nodes on this machine until Ctrl-C or SIGTERM, each in its own process. DIR contains the"
                    + " cluster file, and the data, the log, and the process id of each node. The next run with this"
                    + " directory continues the same cluster. For tests only, because all nodes share one machine.",
            "A node that ends, for example because you kill it, stays down until 'caravan cluster demo --start"
                    + " NODE'."
        },
        footer = {
            "  caravan cluster demo",
            "  caravan cluster demo --groups 2 cluster2",
            "      six nodes: three have one half of the slots, and three the other half",
            "  caravan cluster demo --start a",
            "      starts node a again, in the foreground"
        })
final class ClusterDemoCommand extends CliCommand {
    private static final int NODES_PER_GROUP = 3;
    /** The maximum number of Raft groups, limited by the single-letter node ids and about 300 MB of memory per node. */
    private static final int MAX_GROUPS = 5;

    private static final String FILE = "cluster.properties";
    /** The JVM heap of each node. The default would be too large, because at least three nodes share the machine. */
    private static final String HEAP = "-Xmx512m";

    @Parameters(paramLabel = "DIR", defaultValue = "cluster", description = "Directory of the cluster.")
    private Path directory;

    @Option(
            names = "--ports",
            paramLabel = "FIRST",
            defaultValue = "${env:CARAVAN_DEMO_PORTS:-6381}",
            description = "First RESP port. The HTTP port of each node is its RESP port plus 100, and the port for"
                    + " the traffic between nodes is its RESP port plus 200.")
    private int firstPort;

    @Option(
            names = "--groups",
            paramLabel = "COUNT",
            defaultValue = "1",
            description = "Number of Raft groups into which a new cluster is divided, up to 5, of three nodes each.")
    private int groups;

    @Option(names = "--start", paramLabel = "NODE", description = "Start this node again, in the foreground.")
    private String again = "";

    /** The time in which Ctrl-C, which ends the nodes as well, also reaches this process. */
    private static final long SIGNAL_MILLIS = 1_000;

    private final List<Process> nodes = new CopyOnWriteArrayList<>();
    private final CountDownLatch stop = new CountDownLatch(1);

    @Override
    protected void run(Output output) throws IOException {
        check(firstPort >= 1 && firstPort <= 65_000, "--ports must be from 1 to 65000");
        check(groups >= 1 && groups <= MAX_GROUPS, "--groups must be from 1 to " + MAX_GROUPS);
        Path file = directory.resolve(FILE);
        if (!Files.exists(file)) {
            check(
                    again.isEmpty(),
                    "there is no cluster in '" + directory
                            + "', of which --start could start a node; name its directory");
            Files.createDirectories(directory);
            // The next run must not find an incomplete file, which a full disk would leave.
            Path written = Files.writeString(directory.resolve(FILE + ".tmp"), clusterFile());
            Files.move(written, file, StandardCopyOption.ATOMIC_MOVE);
        }
        ClusterFile cluster = ClusterFile.read(file);
        runUntilSignal(this::stop, () -> {
            if (again.isEmpty()) {
                runAll(cluster, file);
            } else {
                exitWith(startAgain(cluster, file));
            }
        });
    }

    /** Runs all nodes until they have ended; that is a failure, unless the user has stopped them. */
    private void runAll(ClusterFile cluster, Path file) throws IOException {
        boolean single = cluster.groups().size() == 1;
        say("a cluster of " + (single ? "three nodes" : cluster.groups().size() + " groups of three nodes") + ", in "
                + directory.toAbsolutePath().normalize() + ":");
        List<CompletableFuture<Void>> ends = new ArrayList<>();
        for (ClusterNode node : cluster.nodes()) {
            Process process = start(node, file);
            say("  " + described(node, process)
                    + (single ? "" : ", slots " + cluster.groupOf(node.id()).slots()));
            ends.add(process.onExit().thenAcceptAsync(ended -> reportEnd(node, ended.exitValue())));
        }
        int port = cluster.nodes().get(0).resp().port();
        say("connect with a cluster client: redis-cli -c -p " + port + ", or send HTTP requests to any node; show the"
                + " status with 'caravan cluster status --server 127.0.0.1:" + port + "'; stop with Ctrl-C");
        CompletableFuture.allOf(ends.toArray(new CompletableFuture<?>[0])).join();
        exitWith(stopped(stop, 0) ? CommandLine.ExitCode.OK : CommandLine.ExitCode.SOFTWARE);
    }

    private void reportEnd(ClusterNode node, int exitValue) {
        if (!stopped(stop, SIGNAL_MILLIS)) {
            say("node " + node.id() + " has ended, with exit code " + exitValue
                    + ": start it again with 'caravan cluster demo " + directory + " --start " + node.id() + "'");
        }
    }

    private int startAgain(ClusterFile cluster, Path file) throws IOException {
        ClusterNode node;
        try {
            node = cluster.node(again);
        } catch (IllegalArgumentException unknown) {
            throw misused(String.valueOf(unknown.getMessage()));
        }
        Process process = start(node, file);
        say(described(node, process));
        return process.onExit().join().exitValue();
    }

    private String described(ClusterNode node, Process process) {
        return "node " + node.id() + ": RESP " + node.resp() + ", HTTP " + node.http() + ", process " + process.pid()
                + ", log " + directory.resolve(node.id() + ".log");
    }

    private String clusterFile() {
        StringBuilder text = new StringBuilder("# The nodes of a cluster; the same file is on each of them.\n");
        text.append("cluster = ").append(UUID.randomUUID()).append('\n');
        for (int i = 0; i < NODES_PER_GROUP * groups; i++) {
            String id = String.valueOf((char) ('a' + i));
            int port = firstPort + i;
            if (groups > 1) {
                text.append(id + ".slots = " + SlotRange.ofGroup(i / NODES_PER_GROUP, groups) + "\n");
            }
            text.append(id + ".resp = 127.0.0.1:" + port + "\n");
            text.append(id + ".http = 127.0.0.1:" + (port + 100) + "\n");
            text.append(id + ".peer = 127.0.0.1:" + (port + 200) + "\n");
        }
        return text.toString();
    }

    /** Starts a node as a process of this program, with the same JVM options. */
    private Process start(ClusterNode node, Path file) throws IOException {
        Path data = directory.resolve(node.id());
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
        command.add(HEAP);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), "io.caravan.server.cli.Main"));
        command.addAll(List.of("serve", "--cluster-file", file.toString(), "--cluster-node", node.id()));
        command.addAll(List.of("--data", data.toString()));
        String[] found = data.toFile().list();
        if (found == null || found.length == 0) {
            command.add("--cluster-create");
        }
        File out = directory.resolve(node.id() + ".log").toFile();
        Process process = new ProcessBuilder(command)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(out))
                .redirectErrorStream(true)
                .start();
        nodes.add(process);
        if (stopped(stop, 0)) {
            process.destroy();
        }
        Files.writeString(directory.resolve(node.id() + ".pid"), Long.toString(process.pid()));
        return process;
    }

    private void stop() {
        stop.countDown();
        nodes.forEach(Process::destroy);
        for (Process node : nodes) {
            node.onExit().join();
        }
    }
}
