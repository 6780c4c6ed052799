package io.caravan.server.protocol.http.connection;

import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Future;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** Notices when a figure that should move has not moved for a while. The event loop's alone. */
final class StallTimer {
    private final EventExecutor loop;
    private final Duration limit;
    private final LongSupplier figure;
    private final Runnable stalled;
    private @Nullable Future<?> next;
    private long last;

    /**
     * Makes a timer that does not run.
     *
     * @param limit how long the figure may stay what it is; up to twice that may pass before it is noticed
     * @param figure negative when nothing is to be waited for any more
     */
    StallTimer(EventExecutor loop, Duration limit, LongSupplier figure, Runnable stalled) {
        this.loop = loop;
        this.limit = limit;
        this.figure = figure;
        this.stalled = stalled;
    }

    /** Starts to look, if it does not yet. */
    void start() {
        if (next == null) {
            schedule(figure.getAsLong());
        }
    }

    void stop() {
        if (next != null) {
            next.cancel(false);
            next = null;
        }
    }

    private void schedule(long now) {
        last = now;
        next = now < 0 ? null : loop.schedule(this::look, limit.toNanos(), TimeUnit.NANOSECONDS);
    }

    private void look() {
        long now = figure.getAsLong();
        if (now >= 0 && now == last) {
            next = null;
            stalled.run();
        } else {
            schedule(now);
        }
    }
}
