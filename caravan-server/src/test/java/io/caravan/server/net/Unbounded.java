package io.caravan.server.net;

import io.netty.channel.Channel;
import java.time.Duration;

/** Shares of memory that are never at a limit, for tests of protocols. */
public final class Unbounded {
    private Unbounded() {}

    public static InFlight inFlight(Channel channel) {
        InFlightBudget budget = new InFlightBudget(Long.MAX_VALUE, Duration.ofSeconds(1), channel.eventLoop());
        return new InFlight(channel, budget, Long.MAX_VALUE, answers(channel));
    }

    /** What a connection's requests hold. */
    public static long heldBytes(InFlight inFlight) {
        return inFlight.heldBytes();
    }

    public static AnswerMemory answers(Channel channel) {
        return answers(channel, Long.MAX_VALUE);
    }

    /** A share that is at its limit when it holds so many bytes. */
    public static AnswerMemory answers(Channel channel, long limitBytes) {
        return new AnswerMemory(channel, new AnswerBudget(limitBytes, channel.eventLoop()));
    }
}
