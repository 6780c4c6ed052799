package io.caravan.server.protocol.resp.commands;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetSocketAddress;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ClientCommandsTest {
    /** Redis writes the addresses of clients in the same way. */
    @ParameterizedTest
    @CsvSource({"127.0.0.1, 127.0.0.1:6380", "::1, [0:0:0:0:0:0:0:1]:6380"})
    void addressOfClientHasBracketsAroundIpv6(String host, String expected) {
        assertThat(ClientCommands.address(new InetSocketAddress(host, 6380))).isEqualTo(expected);
    }
}
