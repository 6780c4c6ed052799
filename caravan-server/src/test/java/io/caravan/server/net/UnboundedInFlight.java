package io.caravan.server.net;

import io.netty.channel.Channel;

/** Counts of bytes in flight that are never at a limit, for tests of protocols. */
public final class UnboundedInFlight {
    private UnboundedInFlight() {}

    public static InFlight of(Channel channel) {
        return new InFlight(channel, new InFlightBudget(Long.MAX_VALUE), Long.MAX_VALUE);
    }
}
