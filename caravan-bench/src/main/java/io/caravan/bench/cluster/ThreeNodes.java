package io.caravan.bench.cluster;

import io.caravan.bench.ProgressLine;
import io.caravan.bench.WorkDirectories;
import io.caravan.bench.client.RespConnection;
import io.caravan.bench.server.Caravan;
import io.caravan.bench.server.Ports;
import io.caravan.bench.server.RunningSystem;
import io.caravan.testing.ChildProcess;
import io.caravan.testing.FreePorts;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A cluster of three nodes, each in its own process, with default settings unless others are given. */
final class ThreeNodes implements RunningSystem {
    static final String NAME = "Caravan, three nodes";
    static final String DURABILITY = "fsynced by two of three nodes before the reply";

    /** Election timeout for nodes on one machine, whose messages have no network delay. */
    static final String ELECTION = "300ms";

    private static final List<String> IDS = List.of("a", "b", "c");
    private static final long TIMEOUT_NANOS = TimeUnit.SECONDS.toNanos(120);
    private static final long POLL_MILLIS = 20;
    private static final String BEHIND = "cluster_unapplied_entries";
    private static final String COMMITTED = "cluster_committed_entries";

    /** The text that a node logs when it has received a snapshot. */
    private static final String RECEIVED_SNAPSHOT = "has received the snapshot of node";

    private final Path directory;
    private final Path file;
    private final List<String> settings;
    private final Map<String, InetSocketAddress> addresses = new LinkedHashMap<>();
    private final Map<String, ChildProcess> processes = new LinkedHashMap<>();

    private ThreeNodes(Path directory, List<String> settings) {
        this.directory = directory;
        this.settings = settings;
        this.file = directory.resolve("cluster.properties");
    }

    /**
     * Starts the nodes, and waits until all follow one leader.
     *
     * @param settings additional options of {@code serve}
     */
    static ThreeNodes start(Path work, String... settings) throws IOException, InterruptedException {
        ThreeNodes nodes = new ThreeNodes(Files.createTempDirectory(work, "cluster"), List.of(settings));
        try {
            nodes.writeFile();
            for (String id : IDS) {
                nodes.start(id, List.of("--cluster-create"));
            }
            nodes.awaitAll();
        } catch (IOException | InterruptedException | RuntimeException failed) {
            nodes.close();
            throw failed;
        }
        return nodes;
    }

    private void writeFile() throws IOException {
        StringBuilder text = new StringBuilder("cluster = " + UUID.randomUUID() + "\n");
        for (String id : IDS) {
            int resp = FreePorts.next();
            addresses.put(id, new InetSocketAddress(Ports.HOST, resp));
            line(text, id + ".resp", resp);
            line(text, id + ".http", FreePorts.next());
            line(text, id + ".peer", FreePorts.next());
        }
        Files.writeString(file, text);
    }

    private static void line(StringBuilder text, String name, int port) {
        text.append(name)
                .append(" = ")
                .append(Ports.HOST)
                .append(':')
                .append(port)
                .append('\n');
    }

    private void start(String id, List<String> more) throws IOException {
        List<String> serve = new ArrayList<>(List.of("serve", "--cluster-file", file.toString(), "--cluster-node", id));
        serve.addAll(List.of("--data", directory.resolve(id).toString(), "--cluster-election", ELECTION));
        serve.addAll(settings);
        serve.addAll(more);
        processes.put(id, new ChildProcess(Caravan.asDelivered().command(serve), directory.resolve(id + ".log")));
    }

    /** Waits for a leader, and returns its address. */
    @Override
    public InetSocketAddress address() throws IOException, InterruptedException {
        return Objects.requireNonNull(addresses.get(leader()));
    }

    private String leader() throws IOException, InterruptedException {
        long deadline = System.nanoTime() + TIMEOUT_NANOS;
        while (System.nanoTime() - deadline < 0) {
            for (String id : IDS) {
                if (info(id).contains("cluster_role:leader")) {
                    return id;
                }
            }
            TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
        }
        throw new IOException("no node of the cluster leads after 120 s; their logs are in " + directory);
    }

    /** Waits until all nodes follow one leader and have all committed entries. */
    void awaitAll() throws IOException, InterruptedException {
        long deadline = System.nanoTime() + TIMEOUT_NANOS;
        while (!together(leader())) {
            if (System.nanoTime() - deadline > 0) {
                throw new IOException("a node does not follow after 120 s; the logs are in " + directory);
            }
            TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
        }
    }

    private boolean together(String leader) {
        return IDS.stream()
                .map(this::info)
                .allMatch(info -> info.contains("cluster_leader:" + leader + "\r\n")
                        && info.contains(BEHIND + ":0\r\n")
                        && !info.contains("cluster_log_entries:0\r\n"));
    }

    /** Returns a node's information about the cluster; empty if the node does not reply. */
    private String info(String id) {
        ChildProcess process = processes.get(id);
        if (process == null || !process.alive()) {
            return "";
        }
        try (RespConnection connection = new RespConnection(Objects.requireNonNull(addresses.get(id)))) {
            return connection.text("INFO", "cluster");
        } catch (IOException notNow) {
            return "";
        }
    }

    /**
     * Kills the leader, and appends through the other nodes until one replies. Then restarts the killed node, and waits
     * until it has caught up.
     *
     * @return the time from the kill to the reply, in nanoseconds
     */
    long killLeader() throws IOException, InterruptedException {
        String killed = leader();
        List<InetSocketAddress> others = addresses.entrySet().stream()
                .filter(node -> !node.getKey().equals(killed))
                .map(Map.Entry::getValue)
                .toList();
        long start = System.nanoTime();
        Objects.requireNonNull(processes.get(killed)).kill();
        long nanos = firstReply(others, start) - start;
        start(killed, List.of());
        awaitAll();
        return nanos;
    }

    /**
     * Appends through each node repeatedly, until one succeeds. Each node has its own client, so that a node that hangs
     * does not delay the reply of another node.
     */
    private long firstReply(List<InetSocketAddress> nodes, long start) throws IOException, InterruptedException {
        CompletableFuture<Long> replied = new CompletableFuture<>();
        for (InetSocketAddress node : nodes) {
            Thread client = new Thread(() -> requestUntilReplied(node, replied), "client of " + node);
            client.setDaemon(true);
            client.start();
        }
        try {
            return replied.get(TIMEOUT_NANOS - (System.nanoTime() - start), TimeUnit.NANOSECONDS);
        } catch (ExecutionException | TimeoutException never) {
            throw new IOException("no node took over within 120 s; the logs are in " + directory, never);
        } finally {
            replied.cancel(false);
        }
    }

    private static void requestUntilReplied(InetSocketAddress node, CompletableFuture<Long> replied) {
        try {
            while (!replied.isDone()) {
                if (append(node)) {
                    replied.complete(System.nanoTime());
                }
                TimeUnit.MILLISECONDS.sleep(1);
            }
        } catch (InterruptedException hurried) {
            replied.completeExceptionally(hurried);
        }
    }

    /** Appends once, and returns whether that succeeded. */
    private static boolean append(InetSocketAddress node) {
        try (RespConnection connection = new RespConnection(node)) {
            connection.call(RespConnection.ascii("RPUSH"), RespConnection.ascii("takeovers"), new byte[1]);
            return true;
        } catch (IOException rejected) {
            return false;
        }
    }

    /**
     * The result of a rejoin.
     *
     * @param repliedNanos time from the start of the node until it replied
     * @param nanos time from the start of the node until it had applied all entries that had been committed before the
     *     start
     * @param gotFiles whether the node received a snapshot from the leader instead of only the part of the Raft log
     *     that it lacked
     */
    record Return(long repliedNanos, long nanos, boolean gotFiles) {}

    /** Kills a follower, and returns its id. The other two nodes continue. */
    String killFollower() throws IOException, InterruptedException {
        String leader = leader();
        String killed =
                IDS.stream().filter(id -> !id.equals(leader)).findFirst().orElseThrow();
        Objects.requireNonNull(processes.get(killed)).kill();
        return killed;
    }

    /**
     * Starts a node that was killed, and waits until it has applied everything that is committed now.
     *
     * @param timeout time limit, after which this method throws an exception
     */
    Return startAgain(String id, Duration timeout) throws IOException, InterruptedException {
        long committed = number(info(leader()), COMMITTED);
        ProgressLine progress = new ProgressLine(System.err);
        long replied = 0;
        long start = System.nanoTime();
        start(id, List.of());
        ChildProcess node = Objects.requireNonNull(processes.get(id));
        while (node.alive() && System.nanoTime() - start < timeout.toNanos()) {
            String info = info(id);
            long nanos = System.nanoTime() - start;
            replied = replied == 0 && !info.isEmpty() ? nanos : replied;
            if (number(info, BEHIND) == 0 && number(info, COMMITTED) >= committed) {
                progress.clear();
                return new Return(replied, nanos, node.output().contains(RECEIVED_SNAPSHOT));
            }
            progress.show(() -> info.isEmpty()
                    ? "node " + id + " starts"
                    : "node " + id + " is behind by " + number(info, BEHIND) + " entries, and has "
                            + Math.max(0, number(info, "snapshot_bytes")) + " bytes of files");
            TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
        }
        throw new IOException(
                "node " + id + " did not catch up within " + timeout.toSeconds() + " s; it printed: " + node.output());
    }

    /** Returns a number from a node's information about the cluster; -1 if it is absent. */
    private static long number(String info, String name) {
        Matcher found = Pattern.compile(name + "[:=](\\d+)").matcher(info);
        return found.find() ? Long.parseLong(found.group(1)) : -1;
    }

    /** Kills the nodes, because their data is no longer needed. */
    @Override
    public void close() throws IOException {
        for (ChildProcess process : processes.values()) {
            process.kill();
        }
        WorkDirectories.delete(directory);
    }
}
