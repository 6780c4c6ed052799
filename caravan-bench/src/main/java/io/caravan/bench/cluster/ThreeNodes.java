package io.caravan.bench.cluster;

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

/** A cluster of three nodes, each in its own process, with default settings except for the election timeout. */
final class ThreeNodes implements RunningSystem {
    static final String NAME = "Caravan, three nodes";
    static final String DURABILITY = "fsynced by two of three nodes before the reply";

    /** Election timeout for nodes on one machine, whose messages have no network delay. */
    static final String ELECTION = "300ms";

    private static final List<String> IDS = List.of("a", "b", "c");
    private static final long TIMEOUT_NANOS = TimeUnit.SECONDS.toNanos(120);
    private static final long POLL_MILLIS = 20;

    private final Path directory;
    private final Path file;
    private final Map<String, InetSocketAddress> addresses = new LinkedHashMap<>();
    private final Map<String, ChildProcess> processes = new LinkedHashMap<>();

    private ThreeNodes(Path directory) {
        this.directory = directory;
        this.file = directory.resolve("cluster.properties");
    }

    /** Starts the nodes, and waits until all follow one leader. */
    static ThreeNodes start(Path work) throws IOException, InterruptedException {
        ThreeNodes nodes = new ThreeNodes(Files.createTempDirectory(work, "cluster"));
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

    /** Waits until all nodes follow one leader and have applied all committed entries. */
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
                        && info.contains("cluster_unapplied_entries:0\r\n")
                        && !info.contains("cluster_log_entries:0\r\n"));
    }

    /** Returns a node's reply to {@code INFO cluster}; empty if the node does not reply. */
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
     * Appends through each node repeatedly, until one append succeeds. Each node has its own client, so that a node
     * that hangs does not delay the reply of another node.
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

    /** Kills the nodes, because their data is no longer needed. */
    @Override
    public void close() throws IOException {
        for (ChildProcess process : processes.values()) {
            process.kill();
        }
        WorkDirectories.delete(directory);
    }
}
