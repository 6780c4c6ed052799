package io.caravan.server.net;

import io.netty.channel.Channel;
import io.netty.channel.embedded.EmbeddedChannel;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

/** Memory of connections for tests of protocols, which is never at a limit unless the test says so. */
public final class Unbounded {
    private Unbounded() {}

    public static ConnectionMemory memory(Channel channel) {
        return memory(channel, Long.MAX_VALUE);
    }

    /** Memory that is at its limit when replies hold so many bytes. */
    public static ConnectionMemory memory(Channel channel, long replyBytes) {
        return memories(replyBytes, channel).get(0);
    }

    /** The same for several connections together. */
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

    /** What a connection's requests hold. */
    public static long requestBytes(ConnectionMemory memory) {
        return memory.requestBytes();
    }
}
