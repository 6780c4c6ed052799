package io.caravan.server.net;

import io.netty.channel.Channel;
import io.netty.channel.embedded.EmbeddedChannel;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

/** Creates connection memory for protocol tests. It is unlimited unless the test sets a limit. */
public final class Unbounded {
    private Unbounded() {}

    public static ConnectionMemory memory(Channel channel) {
        return memory(channel, Long.MAX_VALUE);
    }

    /** Returns connection memory that allows {@code replyBytes} of replies. */
    public static ConnectionMemory memory(Channel channel, long replyBytes) {
        return memories(replyBytes, channel).get(0);
    }

    /** Returns the memory of each of these connections, which share one limit on replies. */
    public static List<ConnectionMemory> memories(long replyBytes, Channel... channels) {
        MemoryBudget budget = budget(replyBytes);
        return Stream.of(channels)
                .map(channel -> new ConnectionMemory(channel, budget))
                .toList();
    }

    static MemoryBudget budget(long replyBytes) {
        Duration timeout = Duration.ofSeconds(15);
        NetworkLimits limits =
                new NetworkLimits(1, 1, Long.MAX_VALUE, Long.MAX_VALUE, replyBytes, timeout, timeout, timeout);
        return new MemoryBudget(limits, new EmbeddedChannel().eventLoop());
    }

    /** Returns the number of bytes that the requests of a connection use. */
    public static long requestBytes(ConnectionMemory memory) {
        return memory.requestBytes();
    }
}
