package io.caravan.server.protocol.resp.reply;

import io.netty.channel.Channel;
import io.netty.channel.ChannelOutboundBuffer;
import java.time.Duration;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lets a client go that takes nothing of its answers, however little would do, within a time. It looks twice in that time,
 * so a client may have half as long again; and only while there is something to take. The event loop's alone, but for the
 * constructor.
 */
final class StallWatch {
    private static final Logger LOG = LoggerFactory.getLogger(StallWatch.class);

    private final Channel channel;
    private final Duration stall;
    private final LongSupplier taken;
    private @Nullable Future<?> nextLook;
    private long lastProgress;
    private int looksWithoutProgress;

    /**
     * A watch that does not look yet.
     *
     * @param taken bytes that have reached the socket, in whole writes
     */
    StallWatch(Channel channel, Duration stall, LongSupplier taken) {
        this.channel = channel;
        this.stall = stall;
        this.taken = taken;
    }

    /** Begins to look if something waits for the client to take it; it ends by itself when that is taken. */
    void watch() {
        if (nextLook == null && pendingBytes() > 0) {
            lastProgress = progress();
            looksWithoutProgress = 0;
            schedule();
        }
    }

    /** Looks no more: the connection is gone. */
    void stop() {
        if (nextLook != null) {
            nextLook.cancel(false);
        }
    }

    private void schedule() {
        nextLook = channel.eventLoop().schedule(this::look, stall.toNanos() / 2, TimeUnit.NANOSECONDS);
    }

    private void look() {
        nextLook = null;
        if (!channel.isActive() || pendingBytes() == 0) {
            return;
        }
        long progress = progress();
        looksWithoutProgress = progress == lastProgress ? looksWithoutProgress + 1 : 0;
        lastProgress = progress;
        if (looksWithoutProgress >= 2) {
            LOG.warn("closing {}: it has taken nothing of an answer for {}", channel.remoteAddress(), stall);
            channel.close();
        } else {
            schedule();
        }
    }

    /** Rises with every byte that reaches the socket. */
    private long progress() {
        ChannelOutboundBuffer buffer = channel.unsafe().outboundBuffer();
        return taken.getAsLong() + (buffer == null ? 0 : buffer.currentProgress());
    }

    /** Bytes that only wait for the client. */
    private long pendingBytes() {
        ChannelOutboundBuffer buffer = channel.unsafe().outboundBuffer();
        return buffer == null ? 0 : buffer.totalPendingWriteBytes();
    }
}
