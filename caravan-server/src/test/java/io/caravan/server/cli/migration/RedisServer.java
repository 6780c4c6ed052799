package io.caravan.server.cli.migration;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.caravan.server.cli.client.ServedStore;
import io.caravan.testing.FreePorts;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Jedis;

/** A Redis process without persistence, with a client that is connected to it. */
final class RedisServer implements AutoCloseable {
    private static final Path PROGRAM = Path.of("/usr/bin/redis-server");

    private final Process process;
    final int port;
    final Jedis client;

    private RedisServer(Process process, int port, Jedis client) {
        this.process = process;
        this.port = port;
        this.client = client;
    }

    /** Starts a Redis process, or skips the test if no redis-server is installed. */
    static RedisServer start(String... options) throws IOException {
        assumeTrue(Files.isExecutable(PROGRAM), "redis-server is not installed");
        int port = FreePorts.next();
        List<String> command =
                new ArrayList<>(List.of(PROGRAM.toString(), "--port", "" + port, "--bind", "127.0.0.1", "--save", ""));
        command.addAll(List.of(options));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        BufferedReader log = new BufferedReader(new InputStreamReader(process.getInputStream(), UTF_8));
        StringBuilder read = new StringBuilder();
        while (read.indexOf("Ready to accept connections") < 0) {
            String line = log.readLine();
            if (line == null) {
                throw new IOException("redis-server has ended: " + read);
            }
            read.append(line).append('\n');
        }
        return new RedisServer(
                process,
                port,
                new Jedis(
                        new HostAndPort("127.0.0.1", port),
                        DefaultJedisClientConfig.builder()
                                .timeoutMillis(ServedStore.TIMEOUT_MILLIS)
                                .build()));
    }

    String url() {
        return "redis://127.0.0.1:" + port;
    }

    void kill() {
        process.destroyForcibly();
    }

    @Override
    public void close() {
        client.close();
        kill();
    }
}
