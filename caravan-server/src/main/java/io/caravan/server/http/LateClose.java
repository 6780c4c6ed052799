package io.caravan.server.http;

import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.socket.DuplexChannel;
import java.util.concurrent.TimeUnit;

/**
 * Closes a connection once what was written has gone out. Over a request that was not read whole it does so late: what the
 * client is still sending is read and dropped for a while, because a socket that is closed over unread bytes takes back the
 * answer that says what was wrong. The event loop's alone.
 */
final class LateClose {
    private static final int LINGER_SECONDS = 2;

    private final Channel channel;
    private boolean begun;
    private boolean lingering;

    LateClose(Channel channel) {
        this.channel = channel;
    }

    /** Whether the connection is being closed. */
    boolean begun() {
        return begun;
    }

    /** Whether it is only kept open for what the client is still sending. */
    boolean lingering() {
        return lingering;
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
        DuplexChannel duplex = (DuplexChannel) channel;
        if (duplex.isInputShutdown() || !channel.isActive()) {
            channel.close();
            return;
        }
        lingering = true;
        duplex.shutdownOutput();
        channel.read();
        channel.eventLoop().schedule(() -> channel.close(), LINGER_SECONDS, TimeUnit.SECONDS);
    }
}
