package io.caravan.server.http;

import io.caravan.server.net.LingeringClose;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import java.time.Duration;

/**
 * Closes a connection once what was written has gone out. Over a request that was not read whole it does so late: what the
 * client is still sending is read and dropped for a while, because a socket that is closed over unread bytes takes back the
 * answer that says what was wrong. The event loop's alone.
 */
final class LateClose {
    private static final Duration LINGER = Duration.ofSeconds(2);

    private final Channel channel;
    private boolean begun;

    LateClose(Channel channel) {
        this.channel = channel;
    }

    /** Whether the connection is being closed. */
    boolean begun() {
        return begun;
    }

    /** The connection is gone. */
    void done() {
        begun = true;
    }

    /**
     * Begins to close.
     *
     * @param unread whether there may be more of a request
     */
    void begin(boolean unread) {
        if (!begun) {
            begun = true;
            channel.writeAndFlush(Unpooled.EMPTY_BUFFER)
                    .addListener(unread ? written -> linger() : ChannelFutureListener.CLOSE);
        }
    }

    private void linger() {
        LingeringClose.start(channel, LINGER);
    }
}
