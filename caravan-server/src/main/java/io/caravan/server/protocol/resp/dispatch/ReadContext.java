package io.caravan.server.protocol.resp.dispatch;

import io.caravan.server.protocol.resp.codec.CommandException;
import io.caravan.server.protocol.resp.reply.PendingReply;
import io.caravan.server.security.Principal;
import io.netty.channel.Channel;
import org.jspecify.annotations.Nullable;

/**
 * What a {@link Reading} needs of its connection.
 *
 * @param channel the client's
 * @param principal who asks; null when the command is for anybody
 * @param place takes the answer
 * @param wake brings the reading back to a reading thread; on any thread, once for each turn that left it to be woken
 */
public record ReadContext(Channel channel, @Nullable Principal principal, PendingReply place, Runnable wake) {

    /**
     * For the start of each turn, as the client may have lost its secret since the last one.
     *
     * @throws CommandException when it has
     */
    public void checkStillKnown() {
        CommandGate.requireStillKnown(principal);
    }
}
