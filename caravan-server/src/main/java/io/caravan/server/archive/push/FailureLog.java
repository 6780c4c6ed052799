package io.caravan.server.archive.push;

import io.caravan.catalog.DocumentName;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs failures, few of them however many there are: that nothing can be archived when it begins and when it ends, and
 * each document that cannot be once in a while, until too many cannot. The figures have all. Threads share it.
 */
final class FailureLog {
    private static final Logger LOG = LoggerFactory.getLogger(FailureLog.class);
    private static final long QUIET_NANOS = TimeUnit.MINUTES.toNanos(10);
    private static final int MOST_NAMES = 100;

    private final AtomicBoolean interrupted = new AtomicBoolean();
    /** When documents that fail were last told of; monitor. */
    private final Map<DocumentName, Long> toldNanos = new HashMap<>();
    /** Monitor. */
    private boolean toldOfMore;

    /** Nothing can be archived for now. */
    void interrupted(Failure failure) {
        if (interrupted.compareAndSet(false, true)) {
            LOG.warn("archiving is interrupted, and will be retried: {}", failure.message());
        }
    }

    /** A document could be archived. */
    void succeeded(DocumentName name) {
        if (interrupted.get() && interrupted.compareAndSet(true, false)) {
            LOG.info("archiving continues");
        }
        forget(name);
    }

    private synchronized void forget(DocumentName name) {
        toldNanos.remove(name);
        toldOfMore &= toldNanos.size() >= MOST_NAMES;
    }

    /** A document cannot be archived; it is tried again in the next round. */
    void failed(DocumentName name, Failure failure, Throwable problem) {
        if (!isToBeTold(name, System.nanoTime())) {
            return;
        }
        if (failure.internal()) {
            LOG.error("document '{}' is not archived, because of an error in the server", name, problem);
        } else {
            LOG.warn("document '{}' is not archived: {}", name, failure.message());
        }
    }

    private synchronized boolean isToBeTold(DocumentName name, long nowNanos) {
        Long last = toldNanos.get(name);
        if (last == null && toldNanos.size() >= MOST_NAMES) {
            toldNanos.values().removeIf(told -> nowNanos - told >= QUIET_NANOS);
        }
        if (last == null && toldNanos.size() >= MOST_NAMES) {
            if (!toldOfMore) {
                LOG.warn("{} documents cannot be archived, and more that are not named for now", MOST_NAMES);
            }
            toldOfMore = true;
            return false;
        }
        if (last != null && nowNanos - last < QUIET_NANOS) {
            return false;
        }
        toldNanos.put(name, nowNanos);
        return true;
    }
}
