package io.caravan.server.protocol.resp.dispatch;

import io.caravan.server.protocol.resp.codec.CommandException;
import io.caravan.server.protocol.resp.reply.PendingReply;
import io.caravan.server.security.Principal;
import io.netty.channel.Channel;
import org.jspecify.annotations.Nullable;

/**
 * A read that may take several turns on reading threads: while it waits for a client or for a change, it holds none.
 * Turns may run on different threads, but never at once, and each sees what the one before it wrote.
 */
public interface Reading {

    /**
     * Takes a turn. What it throws is the answer, if none has been given.
     *
     * @return true when the answer has been given or will be without another turn; false when another thread will run
     *     {@link Context#wake()}, perhaps already has, and the turn must do nothing more
     */
    boolean proceed();

    /**
     * What a {@link Reading} needs of its connection.
     *
     * @param channel the client's
     * @param principal the client; null when the command is open to anybody
     * @param place takes the answer
     * @param wake schedules the next turn; to be run once for each turn that returned false, on any thread
     */
    record Context(Channel channel, @Nullable Principal principal, PendingReply place, Runnable wake) {

        /**
         * For the start of each turn, because the client's secret may have been revoked since the last one.
         *
         * @throws CommandException when it was
         */
        public void checkStillKnown() {
            CommandGate.requireStillKnown(principal);
        }
    }
}
