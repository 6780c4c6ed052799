package io.caravan.server.net;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.embedded.EmbeddedChannel;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import org.junit.jupiter.api.Test;

/** No client takes all that there is for those who wait. */
class WaitBudgetTest {
    private static final int LIMIT = 80;

    private final WaitBudget budget = new WaitBudget(LIMIT);

    private WaitBudget.Share share(String address) {
        return budget.share(new EmbeddedChannel() {
            @Override
            protected SocketAddress remoteAddress0() {
                return new InetSocketAddress(address, 1);
            }
        });
    }

    @Test
    void aConnectionTakesAQuarterAndAnAddressHalf() {
        WaitBudget.Share one = share("192.0.2.1");
        WaitBudget.Share two = share("192.0.2.1");
        WaitBudget.Share three = share("192.0.2.1");
        assertThat(one.take(LIMIT / 4)).isTrue();
        assertThat(one.take(1)).isFalse();
        assertThat(two.take(LIMIT / 4)).isTrue();
        assertThat(three.take(1)).isFalse();
        assertThat(share("192.0.2.2").take(LIMIT / 4)).isTrue();
        two.give(5);
        assertThat(three.take(5)).isTrue();
        assertThat(budget.heldBytes()).isEqualTo(LIMIT * 3 / 4);
        one.close();
        two.close();
        three.close();
        one.give(LIMIT / 4);
        assertThat(budget.heldBytes()).isEqualTo(LIMIT / 4);
    }

    @Test
    void connectionsOfThisMachineTakeAllTogetherAndNoMore() {
        for (int i = 0; i < 4; i++) {
            assertThat(share("127.0.0.1").take(LIMIT / 4)).isTrue();
        }
        assertThat(share("127.0.0.1").take(1)).isFalse();
        assertThat(share("192.0.2.1").take(1)).isFalse();
        assertThat(budget.heldBytes()).isEqualTo(LIMIT);
    }
}
