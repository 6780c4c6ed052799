package io.caravan.server.resp;

import io.netty.channel.Channel;
import io.netty.channel.ChannelOutboundBuffer;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lets a client go that takes nothing of a long answer, however little would do, within a time. It looks twice in that time,
 * so a client may have half as long again. The event loop's alone, but for the constructor.
 */
final class StallWatch {
    private static final Logger LOG = LoggerFactory.getLogger(StallWatch.class);

    private final Channel channel;
    private final Duration stall;
    private final LongSupplier written;
    private boolean running;
    private long lastProgress;
    private int looksWithoutProgress;

    /**
     * A watch that does not run yet.
     *
     * @param written bytes of the answer that have reached the socket, in whole pieces
     */
    StallWatch(Channel channel, Duration stall, LongSupplier written) {
        this.channel = channel;
        this.stall = stall;
        this.written = written;
    }

    /** Begins to look, unless it has begun. */
    void start() {
        if (!running) {
            running = true;
            lastProgress = progress();
            schedule();
        }
    }

    void stop() {
        running = false;
    }

    private void schedule() {
        channel.eventLoop().schedule(this::look, stall.toNanos() / 2, TimeUnit.NANOSECONDS);
    }

    private void look() {
        if (!running || !channel.isActive()) {
            return;
        }
        long progress = progress();
        boolean stalled = progress == lastProgress && pendingBytes() > 0;
        looksWithoutProgress = stalled ? looksWithoutProgress + 1 : 0;
        lastProgress = progress;
        if (looksWithoutProgress >= 2) {
            LOG.warn("closing {}: it has taken nothing of an answer for {}", channel.remoteAddress(), stall);
            channel.close();
        } else {
            schedule();
        }
    }

    /** Rises with every byte of the answer that reaches the socket. */
    private long progress() {
        ChannelOutboundBuffer buffer = channel.unsafe().outboundBuffer();
        return written.getAsLong() + (buffer == null ? 0 : buffer.currentProgress());
    }

    /** Bytes that only wait for the client; what waits for earlier answers is not its fault. */
    private long pendingBytes() {
        ChannelOutboundBuffer buffer = channel.unsafe().outboundBuffer();
        return buffer == null ? 0 : buffer.totalPendingWriteBytes();
    }
}
