package io.caravan.server.protocol.resp;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.server.cli.AnyOutput;
import io.caravan.server.cli.CommandScript;
import io.caravan.server.cli.CommandScript.Step;
import io.caravan.server.cli.ServerJvm;
import io.caravan.testing.ServerProcess;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.ProtocolKeyword;
import io.lettuce.core.protocol.ProtocolVersion;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import redis.clients.jedis.Connection;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.RedisProtocol;
import redis.clients.jedis.Transaction;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.util.KeyValue;

/** Tests third-party clients, which send every command to a server and make the calls that applications make. */
@Tag("slow")
class ClientsIT {
    /** The time that a server that has just started on a busy machine may take to reply to a client. */
    private static final int TIMEOUT_MILLIS = 30_000;

    /** The server that all tests share. Each test must delete its documents. */
    private static ServerProcess server;

    @BeforeAll
    static void start(@TempDir Path directory) throws IOException {
        server = ServerJvm.start(directory.resolve("data"));
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @ParameterizedTest
    @EnumSource(
            value = RedisProtocol.class,
            names = {"RESP2", "RESP3"})
    void jedisRunsEveryCommand(RedisProtocol protocol) throws IOException {
        DefaultJedisClientConfig config = DefaultJedisClientConfig.builder()
                .protocol(protocol)
                .timeoutMillis(TIMEOUT_MILLIS)
                .build();
        try (Connection connection = new Connection(new HostAndPort("127.0.0.1", server.port()), config)) {
            for (Step step : CommandScript.steps()) {
                try {
                    CommandScript.assertReply(step, plain(callJedis(connection, step)));
                } catch (JedisDataException error) {
                    CommandScript.assertError(step, error.getMessage());
                }
            }
        }
        try (Connection connection = new Connection(new HostAndPort("127.0.0.1", server.port()), config)) {
            List<String> names = new ArrayList<>();
            for (Object name : (List<?>) callJedis(connection, new Step(List.of("COMMAND", "LIST"), ""))) {
                names.add(new String((byte[]) name, UTF_8));
            }
            CommandScript.assertCovers(names);
        }
    }

    private static Object callJedis(Connection connection, Step step) {
        byte[][] arguments =
                step.words().stream().skip(1).map(word -> word.getBytes(UTF_8)).toArray(byte[][]::new);
        connection.sendCommand(() -> step.words().get(0).getBytes(UTF_8), arguments);
        return connection.getOne();
    }

    /** Returns a reply in which the lists of pairs that Jedis uses for maps are replaced by maps. */
    private static Object plain(Object reply) {
        if (!(reply instanceof List<?> list)) {
            return reply;
        }
        if (list.isEmpty() || !(list.get(0) instanceof KeyValue)) {
            return list.stream().map(ClientsIT::plain).toList();
        }
        Map<String, Object> map = new LinkedHashMap<>();
        for (Object entry : list) {
            KeyValue<?, ?> pair = (KeyValue<?, ?>) entry;
            map.put(new String((byte[]) pair.getKey(), UTF_8), plain(pair.getValue()));
        }
        return map;
    }

    @Test
    void jedisSupportsCommonCalls() {
        try (Jedis jedis = new Jedis("127.0.0.1", server.port(), TIMEOUT_MILLIS)) {
            assertThat(jedis.rpush("k", "a", "b", "c")).isEqualTo(3);
            assertThat(jedis.lrange("k", 0, -1)).containsExactly("a", "b", "c");
            assertThat(jedis.lpop("k", 2)).containsExactly("a", "b");
            Transaction transaction = jedis.multi();
            transaction.rpush("k", "d");
            transaction.expire("k", 100);
            assertThat(transaction.exec()).containsExactly(2L, 1L);
            assertThat(jedis.ttl("k")).isBetween(1L, 100L);
            assertThat(jedis.keys("*")).containsExactly("k");
            assertThat(jedis.scan("0").getResult()).containsExactly("k");
            assertThat(jedis.type("k")).isEqualTo("list");
            assertThat(jedis.del("k")).isOne();
            assertThat(jedis.dbSize()).isZero();
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = ProtocolVersion.class,
            names = {"RESP2", "RESP3"})
    void lettuceRunsCommandScript(ProtocolVersion version) throws IOException {
        RedisClient client = lettuce(version);
        try (StatefulRedisConnection<String, String> connection = client.connect()) {
            boolean queueing = false;
            for (Step step : CommandScript.steps()) {
                // Skips transactions, which Lettuce handles itself, and HELLO, which changes the protocol version.
                queueing = queueing || step.name().equals("MULTI");
                if (!queueing && !step.name().equals("HELLO")) {
                    runLettuce(connection.sync(), step);
                }
                queueing = queueing && !List.of("EXEC", "DISCARD").contains(step.name());
            }
        } finally {
            client.shutdown();
        }
    }

    private RedisClient lettuce(ProtocolVersion version) {
        RedisClient client = RedisClient.create(RedisURI.create("127.0.0.1", server.port()));
        client.setOptions(ClientOptions.builder()
                .protocolVersion(version)
                .autoReconnect(false)
                .build());
        return client;
    }

    private static void runLettuce(RedisCommands<String, String> commands, Step step) {
        CommandArgs<String, String> arguments = new CommandArgs<>(StringCodec.UTF8);
        step.words().stream().skip(1).forEach(arguments::add);
        try {
            CommandScript.assertReply(
                    step, commands.dispatch(keyword(step.words().get(0)), new AnyOutput(), arguments));
        } catch (RedisCommandExecutionException error) {
            CommandScript.assertError(step, error.getMessage());
        }
    }

    private static ProtocolKeyword keyword(String name) {
        return new ProtocolKeyword() {
            @Override
            public byte[] getBytes() {
                return name.getBytes(UTF_8);
            }

            @Override
            public String toString() {
                return name;
            }
        };
    }

    @ParameterizedTest
    @EnumSource(
            value = ProtocolVersion.class,
            names = {"RESP2", "RESP3"})
    void lettuceSupportsCommonCalls(ProtocolVersion version) {
        RedisClient client = lettuce(version);
        try (StatefulRedisConnection<String, String> connection = client.connect()) {
            RedisCommands<String, String> redis = connection.sync();
            assertThat(redis.rpush("k", "a", "b", "c")).isEqualTo(3);
            assertThat(redis.lrange("k", 0, -1)).containsExactly("a", "b", "c");
            assertThat(redis.lpop("k", 2)).containsExactly("a", "b");
            redis.multi();
            redis.rpush("k", "d");
            redis.expire("k", 100);
            assertThat(redis.exec().stream().toList()).isEqualTo(List.of(2L, true));
            assertThat(redis.ttl("k")).isBetween(1L, 100L);
            assertThat(redis.scan().getKeys()).containsExactly("k");
            assertThat(redis.info("persistence")).contains("loading:0");
            assertThat(redis.configGet("save")).isEqualTo(Map.of("save", ""));
            assertThat(redis.command()).isNotEmpty();
            assertThat(redis.del("k")).isOne();
        } finally {
            client.shutdown();
        }
    }
}
