package io.caravan.server.config;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests addresses in the form that Redis clients expect: the host is everything before the last colon. */
class RedisAddressTest {
    @ParameterizedTest
    @CsvSource({"[::1]:6380, ::1:6380", "127.0.0.1:6380, 127.0.0.1:6380", "a.example:1, a.example:1"})
    void removesBracketsFromIpv6Address(String address, String expected) {
        assertThat(HostPort.parse(address).unbracketed()).isEqualTo(expected);
    }
}
