package io.caravan.server.archive.push;

import io.caravan.catalog.DocumentName;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs failures, few of them however many there are: that nothing can be archived when it begins and when it ends, and a
 * document that cannot be once in a while. The figures have all. Threads share it.
 */
final class FailureLog {
    private static final Logger LOG = LoggerFactory.getLogger(FailureLog.class);
    private static final long QUIET_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final AtomicBoolean interrupted = new AtomicBoolean();
    private final AtomicLong lastNanos = new AtomicLong(System.nanoTime() - QUIET_NANOS);

    /** Nothing can be archived for now. */
    void interrupted(Failure failure) {
        if (interrupted.compareAndSet(false, true)) {
            LOG.warn("archiving is interrupted, and tried again: {}", failure.message());
        }
    }

    /** Something could be archived. */
    void succeeded() {
        if (interrupted.get() && interrupted.compareAndSet(true, false)) {
            LOG.info("archiving goes on");
        }
    }

    /** A document cannot be archived; it is tried again in the next round. */
    void failed(DocumentName name, Failure failure, Throwable problem) {
        long last = lastNanos.get();
        long now = System.nanoTime();
        if (now - last < QUIET_NANOS || !lastNanos.compareAndSet(last, now)) {
            return;
        }
        if (failure.internal()) {
            LOG.error("document '{}' is not archived, for a reason that is the server's", name, problem);
        } else {
            LOG.warn("document '{}' is not archived: {}", name, failure.message());
        }
    }
}
