package io.caravan.server.cli.cluster;

import io.caravan.server.cli.common.CliCommand;
import io.caravan.server.cli.common.Output;
import io.caravan.server.cli.common.VersionProvider;
import io.caravan.server.cluster.ClusterFile;
import io.caravan.server.cluster.ClusterNode;
import io.caravan.server.cluster.SlotRange;
import java.io.File;
import java.io.IOException;
import java.io.PrintWriter;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Runs a cluster on this machine, with one process per node. */
@Command(
        name = "demo",
        description = {
            "Runs a cluster of three nodes, or of several groups of three, on this machine, on loopback, each in a process of its own, until SIGINT or"
                    + " SIGTERM. DIR gets the cluster file, and the data, log and process id of each node, and keeps them: the next time"
                    + " the same cluster goes on. For trying, not for production: one machine is one machine.",
            "A node that ends, because you kill it, say, stays down until 'caravan cluster demo --start NODE'."
        },
        mixinStandardHelpOptions = true,
        versionProvider = VersionProvider.class,
        showDefaultValues = true,
        footer = {
            "  caravan cluster demo",
            "  caravan cluster demo --groups 2 cluster2",
            "      six nodes, of which three have the one half of the slots, and three the other",
            "  caravan cluster demo --start a",
            "      starts node a again, in the foreground"
        })
final class ClusterDemoCommand extends CliCommand {
    private static final int HOSTS_OF_GROUP = 3;
    /** The maximum number of Raft groups: node ids are single letters, and each node needs about 300 MB of memory. */
    private static final int MAX_GROUPS = 5;

    private static final String FILE = "cluster.properties";
    /** The election timeout; short, because nodes on one machine have no network delay. */
    private static final String ELECTION = "300ms";
    /** The JVM heap of each node. The default would be too large, because at least three nodes share the machine. */
    private static final String HEAP = "-Xmx512m";

    @Parameters(paramLabel = "DIR", defaultValue = "cluster", description = "Where everything is.")
    private Path directory;

    @Option(
            names = "--ports",
            paramLabel = "FIRST",
            defaultValue = "${env:CARAVAN_DEMO_PORTS:-6381}",
            description =
                    "RESP is on this port and the next ones, HTTP on those plus 100, the nodes among themselves on"
                            + " those plus 200.")
    private int firstPort;

    @Option(
            names = "--groups",
            paramLabel = "COUNT",
            defaultValue = "1",
            description =
                    "Groups of three nodes among which the documents of a new cluster are divided by their slots, from 1"
                            + " to 5. DIR remembers how many there are.")
    private int groups;

    @Option(names = "--start", paramLabel = "NODE", description = "Start one node again, such as a.")
    private String again = "";

    @Override
    protected int execute(Output output) throws IOException {
        check(firstPort >= 1 && firstPort <= 65_000, "--ports must be from 1 to 65000");
        check(groups >= 1 && groups <= MAX_GROUPS, "--groups must be from 1 to " + MAX_GROUPS);
        Path file = directory.resolve(FILE);
        if (!Files.exists(file)) {
            Files.createDirectories(directory);
            Files.writeString(file, clusterFile());
        }
        ClusterFile cluster = ClusterFile.read(file);
        if (!again.isEmpty()) {
            return startAgain(cluster, file);
        }
        List<Process> hosts = stoppedWithThisProcess();
        say("a cluster of "
                + (cluster.groups().size() == 1
                        ? "three nodes"
                        : cluster.groups().size() + " groups of three nodes") + ", in "
                + directory.toAbsolutePath().normalize() + ":");
        for (ClusterNode host : cluster.hosts()) {
            Process process = start(host, file, hosts);
            say("  " + described(host, process)
                    + (cluster.groups().size() == 1
                            ? ""
                            : ", slots " + cluster.groupOf(host.id()).slots()));
            process.onExit()
                    .thenAccept(ended -> say("node " + host.id() + " has ended, with exit code "
                            + ended.exitValue() + ": start it again with 'caravan cluster demo " + directory
                            + " --start "
                            + host.id() + "'"));
        }
        int port = cluster.hosts().get(0).resp().port();
        say("connect with a cluster client: redis-cli -c -p " + port + ", or ask any node over HTTP; look with"
                + " 'caravan cluster status --server 127.0.0.1:" + port + "'; end with Ctrl-C");
        CompletableFuture.allOf(hosts.stream().map(Process::onExit).toArray(CompletableFuture[]::new))
                .join();
        return CommandLine.ExitCode.SOFTWARE;
    }

    private int startAgain(ClusterFile cluster, Path file) throws IOException {
        ClusterNode host;
        try {
            host = cluster.host(again);
        } catch (IllegalArgumentException unknown) {
            throw misused(String.valueOf(unknown.getMessage()));
        }
        Process process = start(host, file, stoppedWithThisProcess());
        say(described(host, process));
        return process.onExit().join().exitValue();
    }

    private static List<Process> stoppedWithThisProcess() {
        List<Process> hosts = new ArrayList<>();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> stop(hosts), "caravan-demo-stop"));
        return hosts;
    }

    private String described(ClusterNode host, Process process) {
        return "node " + host.id() + ": RESP " + host.resp() + ", HTTP " + host.http() + ", process " + process.pid()
                + ", log " + log(host);
    }

    private Path log(ClusterNode host) {
        return directory.resolve(host.id() + ".log");
    }

    private String clusterFile() {
        StringBuilder text = new StringBuilder(
                        "# The nodes of a cluster; the same file is on each of them.\ncluster = ")
                .append(UUID.randomUUID())
                .append('\n');
        for (int i = 0; i < HOSTS_OF_GROUP * groups; i++) {
            String id = String.valueOf((char) ('a' + i));
            int port = firstPort + i;
            if (groups > 1) {
                text.append(id)
                        .append(".slots = ")
                        .append(SlotRange.ofGroup(i / HOSTS_OF_GROUP, groups))
                        .append('\n');
            }
            text.append(id).append(".resp = 127.0.0.1:").append(port).append('\n');
            text.append(id).append(".http = 127.0.0.1:").append(port + 100).append('\n');
            text.append(id).append(".peer = 127.0.0.1:").append(port + 200).append('\n');
        }
        return text.toString();
    }

    /** Starts a node as a process of this program, with the same JVM options. */
    private Process start(ClusterNode host, Path file, List<Process> hosts) throws IOException {
        Path data = directory.resolve(host.id());
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
        command.add(HEAP);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), "io.caravan.server.cli.Main"));
        command.addAll(List.of("serve", "--cluster-file", file.toString(), "--cluster-node", host.id()));
        command.addAll(List.of("--data", data.toString(), "--cluster-election", ELECTION));
        if (isFirstStart(data)) {
            command.add("--cluster-create");
        }
        File out = log(host).toFile();
        Process process = new ProcessBuilder(command)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(out))
                .redirectError(ProcessBuilder.Redirect.appendTo(out))
                .start();
        hosts.add(process);
        Files.writeString(directory.resolve(host.id() + ".pid"), Long.toString(process.pid()));
        return process;
    }

    private static boolean isFirstStart(Path data) throws IOException {
        if (!Files.isDirectory(data)) {
            return true;
        }
        try (Stream<Path> found = Files.list(data)) {
            return found.findAny().isEmpty();
        }
    }

    private static void stop(List<Process> hosts) {
        hosts.forEach(Process::destroy);
        for (Process host : hosts) {
            host.onExit().join();
        }
    }

    private synchronized void say(String line) {
        PrintWriter out = spec().commandLine().getOut();
        out.println(line);
        out.flush();
    }
}
