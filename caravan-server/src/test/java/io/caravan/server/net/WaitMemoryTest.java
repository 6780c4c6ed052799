package io.caravan.server.net;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.embedded.EmbeddedChannel;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import org.junit.jupiter.api.Test;

/** Tests the limits on the memory for blocked requests, per connection and per client address. */
class WaitMemoryTest {
    private static final int LIMIT = 80;

    private final MemoryBudget budget = Unbounded.budget(4 * LIMIT);

    private ConnectionMemory share(String address) {
        EmbeddedChannel channel = new EmbeddedChannel() {
            @Override
            protected SocketAddress remoteAddress0() {
                return new InetSocketAddress(address, 1);
            }
        };
        return new ConnectionMemory(channel, budget);
    }

    @Test
    void limitsConnectionToQuarterAndAddressToHalf() {
        ConnectionMemory one = share("192.0.2.1");
        ConnectionMemory two = share("192.0.2.1");
        ConnectionMemory three = share("192.0.2.1");
        assertThat(one.reserveWait(LIMIT / 4)).isTrue();
        assertThat(one.reserveWait(1)).isFalse();
        assertThat(two.reserveWait(LIMIT / 4)).isTrue();
        assertThat(three.reserveWait(1)).isFalse();
        assertThat(share("192.0.2.2").reserveWait(LIMIT / 4)).isTrue();
        two.releaseWait(5);
        assertThat(three.reserveWait(5)).isTrue();
        assertThat(budget.waitBytes.get()).isEqualTo(LIMIT * 3 / 4);
        one.close();
        two.close();
        three.close();
        one.releaseWait(LIMIT / 4);
        assertThat(budget.waitBytes.get()).isEqualTo(LIMIT / 4);
    }

    @Test
    void loopbackConnectionsCanUseEntireLimit() {
        for (int i = 0; i < 4; i++) {
            assertThat(share("127.0.0.1").reserveWait(LIMIT / 4)).isTrue();
        }
        assertThat(share("127.0.0.1").reserveWait(1)).isFalse();
        assertThat(share("192.0.2.1").reserveWait(1)).isFalse();
        assertThat(budget.waitBytes.get()).isEqualTo(LIMIT);
    }
}
