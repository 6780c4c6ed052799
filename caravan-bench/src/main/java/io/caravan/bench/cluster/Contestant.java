package io.caravan.bench.cluster;

import io.caravan.bench.network.Caravan;
import io.caravan.bench.network.Redis;
import io.caravan.bench.network.RunningServer;
import io.caravan.bench.report.Results;
import io.caravan.bench.report.Turn;
import io.caravan.bench.server.RespConnection;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A system to measure.
 *
 * @param name in a table
 * @param durability what is guaranteed of an append when it is counted
 * @param missing why it cannot run here; null when it can
 * @param confirmation the command that is sent behind appends, and answers 1 or more when they are as durable; none when
 *     their own answers say so
 */
record Contestant(
        String name, String durability, @Nullable String missing, List<String> confirmation, Starter starter) {
    private static final String WAIT_MILLIS = "60000";

    /** Starts the system, fresh, with its files below a directory on the disk to measure. */
    @FunctionalInterface
    interface Starter {
        Running start(Path work) throws IOException, InterruptedException;
    }

    /** A running system; closing it kills its processes and deletes their files. */
    interface Running extends AutoCloseable {
        /** Where clients append at present. */
        InetSocketAddress address() throws IOException, InterruptedException;

        @Override
        void close() throws IOException;
    }

    /** A task on a running system. */
    @FunctionalInterface
    interface Task {
        void run(Running running) throws IOException, InterruptedException;
    }

    /** The cluster. */
    static Contestant threeHosts() {
        return new Contestant(ThreeHosts.NAME, ThreeHosts.DURABILITY, null, List.of(), ThreeHosts::start);
    }

    /** All systems, or only Caravan's. */
    static List<Contestant> all(boolean alone) {
        return List.of(
                threeHosts(),
                new Contestant(
                        "Caravan, one host alone",
                        "sync: forced by the host before the answer",
                        null,
                        List.of(),
                        work -> running(RunningServer.start(Caravan.asDelivered(), work))),
                new Contestant(
                        "Redis, two replicas, WAIT 1",
                        "forced by one (appendfsync always) and received by a second before WAIT's answer",
                        alone ? "left out by --alone" : Redis.forced().missing(),
                        List.of("WAIT", "1", WAIT_MILLIS),
                        RedisReplicas::start));
    }

    private static Running running(RunningServer server) {
        return new Running() {
            @Override
            public InetSocketAddress address() {
                return server.resp();
            }

            @Override
            public void close() throws IOException {
                server.close();
            }
        };
    }

    /** Starts the system, runs the task, and stops the system; when it cannot run here, the results say why. */
    void run(Turn turn, String workload, Results results, Task task) throws IOException, InterruptedException {
        if (missing != null) {
            results.absent(workload, name, missing);
            return;
        }
        turn.say(workload + ", " + name);
        try (Running running = starter.start(turn.work())) {
            task.run(running);
        }
    }

    /** Appends values, all sent together, and returns when they are as durable as promised. */
    void append(RespConnection connection, int depth, String list, byte[] value) throws IOException {
        for (int i = 0; i < depth; i++) {
            connection.write(RespConnection.ascii("RPUSH"), RespConnection.ascii(list), value);
        }
        if (!confirmation.isEmpty()) {
            connection.write(confirmation.stream().map(RespConnection::ascii).toArray(byte[][]::new));
        }
        connection.flush();
        for (int i = 0; i < depth; i++) {
            connection.receiveAnswer();
        }
        if (!confirmation.isEmpty() && "0".equals(connection.receiveAnswer().text())) {
            throw new IOException(name + ": no replica has confirmed within " + WAIT_MILLIS + " ms");
        }
    }
}
