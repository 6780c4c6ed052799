package io.caravan.server.protocol.resp.dispatch;

import io.caravan.server.protocol.resp.codec.CommandException;
import io.caravan.server.protocol.resp.reply.PendingReply;
import io.caravan.server.security.Principal;
import io.netty.channel.Channel;
import org.jspecify.annotations.Nullable;

/**
 * A read that may take several turns on reading threads: whoever has to wait for a client, or for a change, lets its
 * thread go. Turns follow one another, perhaps on different threads; what one has written the next one sees.
 */
public interface Reading {

    /**
     * Takes a turn. What it throws is the answer, if none has been given.
     *
     * @return true when the answer has been given or will be, without another turn; false when {@link Context#wake()}
     *     is left with somebody who will run it. The turn must do nothing more once it has been left
     */
    boolean proceed();

    /**
     * What a {@link Reading} needs of its connection.
     *
     * @param channel the client's
     * @param principal who asks; null when the command is for anybody
     * @param place takes the answer
     * @param wake brings the reading back to a reading thread; on any thread, once for each turn that left it to be woken
     */
    record Context(Channel channel, @Nullable Principal principal, PendingReply place, Runnable wake) {

        /**
         * For the start of each turn, as the client may have lost its secret since the last one.
         *
         * @throws CommandException when it has
         */
        public void checkStillKnown() {
            CommandGate.requireStillKnown(principal);
        }
    }
}
