package io.caravan.bench.cluster;

import io.caravan.bench.client.RespConnection;
import io.caravan.bench.load.ClosedLoop;
import io.caravan.bench.load.RespAppends;
import io.caravan.bench.report.Results;
import io.caravan.bench.report.Turn;
import io.caravan.bench.server.Caravan;
import io.caravan.bench.server.Redis;
import io.caravan.bench.server.RunningServer;
import io.caravan.bench.server.RunningSystem;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A system that the cluster benchmark measures.
 *
 * @param name name of the system in tables
 * @param durability guarantee of an append when it is counted
 * @param missing reason why the system cannot run here; null if it can
 * @param confirmation command that is sent after appends, and whose reply is 1 or more once the appends have this
 *     durability; empty if the replies to the appends already confirm it
 */
record ClusterContestant(
        String name, String durability, @Nullable String missing, List<String> confirmation, Starter starter) {
    static final int VALUE_BYTES = 200;
    static final int LISTS = 10_000;

    private static final String WAIT_MILLIS = "60000";
    private static final int WARM_UP_CONNECTIONS = 50;
    private static final int WARM_UP_DEPTH = 16;
    /** The warm-up time, long enough for three JVMs on a few cores to compile their code. */
    private static final Duration WARM_UP = Duration.ofSeconds(20);

    private static final Duration QUICK_WARM_UP = Duration.ofMillis(200);

    /** Starts a new instance of the system, whose files are in a directory on the disk being measured. */
    @FunctionalInterface
    interface Starter {
        RunningSystem start(Path work) throws IOException, InterruptedException;
    }

    @FunctionalInterface
    interface Task {
        void run(RunningSystem running) throws IOException, InterruptedException;
    }

    /** Returns a contestant for a Caravan cluster of three nodes. */
    static ClusterContestant threeNodes() {
        return new ClusterContestant(
                ThreeNodes.NAME, ThreeNodes.DURABILITY, null, List.of(), work -> ThreeNodes.start(work));
    }

    /** Returns contestants for all systems or, if {@code alone} is set, only for the Caravan systems. */
    static List<ClusterContestant> all(boolean alone) {
        return List.of(
                threeNodes(),
                new ClusterContestant(
                        "Caravan, one node alone",
                        "sync: fsynced by the node before the reply",
                        null,
                        List.of(),
                        work -> RunningServer.start(Caravan.asDelivered(), work)),
                new ClusterContestant(
                        "Redis, two replicas, WAIT 1",
                        "fsynced by one node (appendfsync always) and received by a second one before the reply to"
                                + " WAIT",
                        alone ? "left out by --alone" : Redis.fsynced().missing(),
                        List.of("WAIT", "1", WAIT_MILLIS),
                        RedisReplicas::start));
    }

    /**
     * Starts the system, runs the task, and stops the system. If the system cannot run on this machine, adds the reason
     * to the results.
     */
    void run(Turn turn, String workload, Results results, Task task) throws IOException, InterruptedException {
        if (missing != null) {
            results.absent(workload, name, missing);
            return;
        }
        turn.say(workload + ", " + name);
        try (RunningSystem running = starter.start(turn.work())) {
            task.run(running);
        }
    }

    /**
     * Returns a workload that appends this value in batches of {@code together} commands. A batch counts once it has
     * the guaranteed durability.
     */
    RespAppends appends(byte[] value, int together) {
        return new RespAppends(value, together, confirmation);
    }

    /** Warms up a newly started server with appends like those that are measured next. */
    void warmUp(InetSocketAddress server, boolean quick) throws IOException {
        new ClosedLoop(appends(new byte[VALUE_BYTES], WARM_UP_DEPTH), WARM_UP_CONNECTIONS, 1, LISTS)
                .run(server, quick ? QUICK_WARM_UP : WARM_UP)
                .withoutErrors();
    }

    /** A Redis server and two replicas, all with {@code appendfsync always}. */
    private static final class RedisReplicas implements RunningSystem {
        private static final int REPLICAS = 2;
        private static final long TIMEOUT_NANOS = TimeUnit.SECONDS.toNanos(60);
        private static final long POLL_MILLIS = 20;

        private final List<RunningServer> servers = new ArrayList<>();

        private RedisReplicas() {}

        static RedisReplicas start(Path work) throws IOException, InterruptedException {
            RedisReplicas started = new RedisReplicas();
            try {
                for (int i = 0; i <= REPLICAS; i++) {
                    started.servers.add(RunningServer.start(Redis.fsynced(), work));
                }
                started.replicate();
            } catch (IOException | InterruptedException | RuntimeException failed) {
                started.close();
                throw failed;
            }
            return started;
        }

        private void replicate() throws IOException, InterruptedException {
            InetSocketAddress master = address();
            for (RunningServer replica : servers.subList(1, servers.size())) {
                try (RespConnection connection = new RespConnection(replica.address())) {
                    connection.call("REPLICAOF", master.getHostString(), String.valueOf(master.getPort()));
                    awaitLink(connection);
                }
            }
        }

        private static void awaitLink(RespConnection connection) throws IOException, InterruptedException {
            long deadline = System.nanoTime() + TIMEOUT_NANOS;
            while (!connection.text("INFO", "replication").contains("master_link_status:up")) {
                if (System.nanoTime() - deadline > 0) {
                    throw new IOException("a replica of Redis did not find its master; INFO contains: "
                            + connection.text("INFO", "replication"));
                }
                TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
            }
        }

        @Override
        public InetSocketAddress address() {
            return servers.get(0).address();
        }

        @Override
        public void close() throws IOException {
            for (RunningServer server : servers) {
                server.close();
            }
        }
    }
}
