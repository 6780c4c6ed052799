package io.caravan.server.cli.client;

import io.caravan.server.config.HostPort;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.RedisProtocol;

/** Carriers for tests. */
public final class Migrations {
    private Migrations() {}

    /** Returns a carrier for the documents of a server without a password. */
    public static DocumentClient carrier(String address) throws java.io.IOException {
        JedisClientConfig config = DefaultJedisClientConfig.builder()
                .protocol(RedisProtocol.RESP3)
                .timeoutMillis(60_000)
                .build();
        return new RespDocumentClient(() -> ServerConnection.open(HostPort.parse(address), config));
    }
}
