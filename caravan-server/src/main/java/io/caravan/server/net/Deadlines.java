package io.caravan.server.net;

import io.netty.channel.Channel;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.EventLoop;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Closes connections that are idle for too long, whose request does not arrive in time, or whose client stops receiving
 * a reply. One task per event loop checks all connections of the loop, {@value #CHECKS} times within the shortest
 * timeout. A timeout may therefore be detected too late, by up to a quarter of the shortest timeout.
 */
final class Deadlines {
    private static final Logger LOG = LoggerFactory.getLogger(Deadlines.class);
    private static final int CHECKS = 8;

    private final NetworkLimits limits;
    private final long checkNanos;
    private final Map<EventLoop, Set<Watch>> watches = new ConcurrentHashMap<>();

    Deadlines(NetworkLimits limits) {
        this.limits = limits;
        long shortest = Stream.of(limits.requestTimeout(), limits.stallTimeout(), limits.idleTimeout())
                .filter(timeout -> timeout != null && !timeout.isZero())
                .mapToLong(Duration::toNanos)
                .min()
                .orElseThrow();
        this.checkNanos = Math.max(1, shortest / CHECKS);
    }

    /** Watches a connection until it has closed; {@code idle} is its maximum idle time, or zero for no limit. */
    void watch(Connection connection, Duration idle) {
        Set<Watch> all = watches.computeIfAbsent(connection.channel.eventLoop(), this::begin);
        Duration idleLimit = idle.isZero() ? Duration.ofNanos(Long.MAX_VALUE) : idle;
        Clock request = new Clock(limits.requestTimeout());
        Watch watch = new Watch(connection, request, new Clock(limits.stallTimeout()), new Clock(idleLimit));
        all.add(watch);
        connection.channel.closeFuture().addListener(closed -> all.remove(watch));
    }

    private Set<Watch> begin(EventLoop loop) {
        Set<Watch> all = ConcurrentHashMap.newKeySet();
        // With a fixed delay, a pause of the entire process does not cause several checks in a row.
        loop.scheduleWithFixedDelay(() -> all.forEach(Watch::check), checkNanos, checkNanos, TimeUnit.NANOSECONDS);
        return all;
    }

    private record Watch(Connection connection, Clock request, Clock stall, Clock idle) {
        void check() {
            try {
                closeIfLate();
            } catch (Throwable broken) {
                // Only this connection fails; the other connections of the loop are still checked.
                connection.channel.pipeline().fireExceptionCaught(broken);
            }
        }

        private void closeIfLate() {
            Channel channel = connection.channel;
            long unfinished = connection.unfinishedRequest();
            ChannelOutboundBuffer output = channel.unsafe().outboundBuffer();
            boolean unsent = output != null && output.totalPendingWriteBytes() > 0;
            // Time during which the server is not reading from the connection is not counted.
            if (request.over(unfinished, unfinished != 0, channel.config().isAutoRead())) {
                LOG.debug("closing {}: no complete request arrived in time", channel.remoteAddress());
                connection.requestTimedOut();
            }
            if (stall.over(unsent ? progress(output) : 0, unsent, true)) {
                LOG.warn(
                        "closing {}: its client has received nothing of a reply for {}",
                        channel.remoteAddress(),
                        stall.limit);
                channel.close();
            }
            // While a reply is being sent, only its stall counts: one long message may take longer than the idle
            // timeout.
            if (idle.over(connection.memory.transfers(), connection.idle() && !unsent, true)) {
                LOG.debug("closing {}: it is idle", channel.remoteAddress());
                channel.close();
            }
        }

        /** Returns a number that changes whenever the client receives data, even a single byte. */
        private long progress(ChannelOutboundBuffer output) {
            long message = System.identityHashCode(output.current());
            return 31 * (31 * message + output.currentProgress()) + connection.memory.sent();
        }
    }

    /** Measures how long a state has lasted, by counting checks. Never measures more than the actual time. */
    private final class Clock {
        private final Duration limit;
        private long state = Long.MIN_VALUE;
        private long nanos;

        Clock(Duration limit) {
            this.limit = limit;
        }

        /**
         * Restarts the measurement if the state has changed or does not apply; otherwise, adds the time since the last
         * check if that time {@code counts}. Returns whether the limit has been reached.
         */
        boolean over(long now, boolean applies, boolean counts) {
            if (!applies || now != state) {
                nanos = 0;
                state = applies ? now : Long.MIN_VALUE;
            } else if (counts) {
                nanos += checkNanos;
            }
            boolean over = nanos >= limit.toNanos();
            if (over) {
                nanos = 0;
            }
            return over;
        }
    }
}
