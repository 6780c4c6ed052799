package io.caravan.server.protocol.http.connection;

import io.netty.channel.Channel;
import io.netty.channel.ChannelOutboundBuffer;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Closes a connection whose client takes nothing of what was written. The event loop's alone. */
final class WriteStall {
    private static final Logger LOG = LoggerFactory.getLogger(WriteStall.class);

    private final Channel channel;
    private final StallTimer timer;

    WriteStall(Channel channel, Duration limit) {
        this.channel = channel;
        this.timer = new StallTimer(channel.eventLoop(), limit, this::bytesPending, this::close);
    }

    /** Looks after what has been written, as long as there is any. */
    void watch() {
        if (bytesPending() > 0) {
            timer.start();
        }
    }

    /** The connection is gone. */
    void stop() {
        timer.stop();
    }

    /** Bytes that the socket has not taken; -1 when there are none. */
    private long bytesPending() {
        ChannelOutboundBuffer buffer = channel.unsafe().outboundBuffer();
        if (buffer == null || buffer.totalPendingWriteBytes() == 0) {
            return -1;
        }
        return Math.max(0, buffer.totalPendingWriteBytes() - buffer.currentProgress());
    }

    private void close() {
        LOG.warn("closing {}: it takes nothing", channel.remoteAddress());
        channel.close();
    }
}
