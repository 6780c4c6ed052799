package io.caravan.server.net;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import org.junit.jupiter.api.Test;

/** Connections get on in turn while all together hold as much as they may. */
class InFlightTest {
    private static final int LIMIT = 100;

    private final InFlightBudget budget = new InFlightBudget(LIMIT);

    /** A connection whose requests are answered as soon as they have come whole. */
    private final class Client {
        final EmbeddedChannel channel = new EmbeddedChannel();
        final InFlight inFlight = new InFlight(channel, budget, LIMIT);
        boolean reads;

        Client() {
            inFlight.onRoom(() -> reads = inFlight.mayRead());
            channel.pipeline().addLast(inFlight);
        }

        /** Sends bytes, of which the last are part of a request. */
        void send(int bytes, boolean requestCame, int unfinished) {
            channel.writeOneInbound(Unpooled.wrappedBuffer(new byte[bytes]));
            if (requestCame) {
                inFlight.requestCame();
            }
            inFlight.settle(unfinished);
            reads = inFlight.mayRead();
        }

        boolean reads() {
            channel.runPendingTasks();
            return reads;
        }
    }

    @Test
    void whoAlwaysHasPartOfTheNextRequestLetsTheOthersHaveTheirTurns() {
        Client greedy = new Client();
        Client second = new Client();
        Client third = new Client();
        greedy.send(LIMIT, false, LIMIT);
        second.send(10, false, 10);
        third.send(10, false, 10);
        assertThat(greedy.reads()).isTrue();
        assertThat(second.reads()).isFalse();
        assertThat(third.reads()).isFalse();

        greedy.send(LIMIT, true, LIMIT);
        assertThat(greedy.reads()).isFalse();
        assertThat(second.reads()).isTrue();
        assertThat(third.reads()).isFalse();

        second.send(10, true, 10);
        assertThat(greedy.reads()).isFalse();
        assertThat(second.reads()).isFalse();
        assertThat(third.reads()).isTrue();

        third.send(10, true, 0);
        assertThat(greedy.reads()).isTrue();
        assertThat(second.reads()).isFalse();
    }

    @Test
    void moreOfTheSameRequestIsNoTurnTaken() {
        Client first = new Client();
        Client second = new Client();
        first.send(LIMIT, false, LIMIT);
        second.send(10, false, 10);
        first.send(10, false, LIMIT + 10);
        assertThat(first.reads()).isTrue();
        assertThat(second.reads()).isFalse();
    }

    @Test
    void whoGoesAwayGivesItsTurnAndItsBytesBack() {
        Client holder = new Client();
        Client first = new Client();
        Client gone = new Client();
        Client last = new Client();
        holder.send(LIMIT, false, LIMIT);
        first.send(LIMIT, false, LIMIT);
        gone.send(10, false, 10);
        last.send(10, false, 10);
        gone.channel.close();
        holder.channel.close();
        assertThat(first.reads()).isTrue();
        assertThat(last.reads()).isFalse();
        first.channel.close();
        assertThat(last.reads()).isTrue();
        assertThat(budget.heldBytes()).isEqualTo(10);
    }
}
