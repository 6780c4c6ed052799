package io.caravan.server.cli.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.caravan.server.config.HostPort;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.RedisProtocol;

class ServerConnectionTest {
    /** The client library would reconnect automatically with the other version of the protocol. */
    @Test
    void aConnectionThatWasCutStaysCut() throws Exception {
        try (ServedStore served = new ServedStore()) {
            HostPort address = HostPort.parse(served.address());
            try (ServerConnection connection = ServerConnection.open(
                    address,
                    DefaultJedisClientConfig.builder()
                            .protocol(RedisProtocol.RESP3)
                            .build())) {
                assertThat(connection.text("ECHO", "a")).isEqualTo("a");
                connection.cut();
                assertThatThrownBy(() -> connection.text("ECHO", "a"))
                        .isInstanceOf(ServerConnection.LostException.class)
                        .hasMessageContaining(served.address());
            }
        }
    }
}
