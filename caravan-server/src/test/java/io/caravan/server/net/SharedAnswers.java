package io.caravan.server.net;

import io.netty.channel.Channel;
import io.netty.channel.embedded.EmbeddedChannel;

/** Memory for the answers of several connections, for tests of protocols. */
public final class SharedAnswers {
    private final AnswerBudget budget;

    public SharedAnswers(long limitBytes) {
        budget = new AnswerBudget(limitBytes, new EmbeddedChannel().eventLoop());
    }

    public AnswerMemory of(Channel channel) {
        return new AnswerMemory(channel, budget);
    }
}
