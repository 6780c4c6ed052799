package io.caravan.bench.cluster;

import io.caravan.bench.network.Redis;
import io.caravan.bench.network.RunningServer;
import io.caravan.bench.server.RespConnection;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A Redis server and two replicas, all with {@code appendfsync always}. */
final class RedisReplicas implements Contestant.Running {
    private static final int REPLICAS = 2;
    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(60);
    private static final long LOOK_MILLIS = 20;

    private final List<RunningServer> servers = new ArrayList<>();

    private RedisReplicas() {}

    static RedisReplicas start(Path work) throws IOException, InterruptedException {
        RedisReplicas started = new RedisReplicas();
        try {
            for (int i = 0; i <= REPLICAS; i++) {
                started.servers.add(RunningServer.start(Redis.forced(), work));
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
            try (RespConnection connection = new RespConnection(replica.resp())) {
                connection.call(
                        RespConnection.ascii("REPLICAOF"),
                        RespConnection.ascii(master.getHostString()),
                        RespConnection.ascii(String.valueOf(master.getPort())));
                awaitLink(connection);
            }
        }
    }

    private static void awaitLink(RespConnection connection) throws IOException, InterruptedException {
        long deadline = System.nanoTime() + PATIENCE_NANOS;
        while (!info(connection).contains("master_link_status:up")) {
            if (System.nanoTime() - deadline > 0) {
                throw new IOException("a replica of Redis did not find its master; INFO says: " + info(connection));
            }
            TimeUnit.MILLISECONDS.sleep(LOOK_MILLIS);
        }
    }

    private static String info(RespConnection connection) throws IOException {
        List<byte[]> answer = connection
                .call(RespConnection.ascii("INFO"), RespConnection.ascii("replication"))
                .values();
        return answer == null ? "" : new String(answer.get(0), StandardCharsets.UTF_8);
    }

    @Override
    public InetSocketAddress address() {
        return servers.get(0).resp();
    }

    @Override
    public void close() throws IOException {
        for (RunningServer server : servers) {
            server.close();
        }
    }
}
