package io.caravan.server.net;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.Channel;
import io.netty.channel.embedded.EmbeddedChannel;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnknownHostException;
import org.junit.jupiter.api.Test;

/** Tests the limits on the number of connections, in total and from one address. */
class ConnectionLimiterTest {
    private final ConnectionLimiter slots = new ConnectionLimiter(5, 2);

    private static Channel from(String address) {
        return new EmbeddedChannel() {
            @Override
            public SocketAddress remoteAddress() {
                try {
                    return new InetSocketAddress(InetAddress.getByName(address), 1);
                } catch (UnknownHostException impossible) {
                    throw new AssertionError(impossible);
                }
            }
        };
    }

    private boolean take(String address) {
        return slots.take(from(address));
    }

    @Test
    void limitsConnectionsPerAddress() {
        assertThat(take("192.0.2.1")).isTrue();
        assertThat(take("192.0.2.1")).isTrue();
        assertThat(take("192.0.2.1")).isFalse();
        assertThat(take("192.0.2.2")).isTrue();
        assertThat(slots.rejectedByAddress()).isOne();
        assertThat(slots.rejected()).isZero();
    }

    @Test
    void countsIpv6SubnetAsOneAddress() {
        assertThat(take("2001:db8::1")).isTrue();
        assertThat(take("2001:db8::2")).isTrue();
        assertThat(take("2001:db8::3")).isFalse();
        assertThat(take("2001:db8:0:1::1")).isTrue();
    }

    @Test
    void loopbackIsLimitedOnlyByTotal() {
        for (int i = 0; i < 5; i++) {
            assertThat(take("127.0.0.1")).isTrue();
        }
        assertThat(take("127.0.0.1")).isFalse();
        assertThat(take("192.0.2.1")).isFalse();
        assertThat(slots.rejected()).isEqualTo(2);
    }

    @Test
    void closedAndRejectedConnectionsDoNotCount() {
        Channel first = from("192.0.2.1");
        assertThat(slots.take(first)).isTrue();
        assertThat(take("192.0.2.1")).isTrue();
        assertThat(take("192.0.2.1")).isFalse();
        first.close();
        assertThat(take("192.0.2.1")).isTrue();
        assertThat(take("192.0.2.1")).isFalse();
    }
}
