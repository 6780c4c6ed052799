package io.caravan.server.archive.push;

import io.caravan.catalog.DocumentName;
import io.caravan.server.archive.push.ArchiveSlot.Backlog;
import io.caravan.server.archive.push.ArchiveStatus.LastError;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Counts successes and failures of archiving, and logs failures. It also logs when all archiving is interrupted, and
 * when it resumes. For each document that cannot be archived, it logs at most one message every 10 minutes. The number
 * of documents that it logs is limited. Thread-safe.
 */
final class ArchiveCounters {
    private static final Logger LOG = LoggerFactory.getLogger(ArchiveCounters.class);
    private static final long QUIET_NANOS = TimeUnit.MINUTES.toNanos(10);
    private static final int MOST_NAMES = 100;

    private final InstantSource clock;
    private final LongAdder documents = new LongAdder();
    private final LongAdder tombstones = new LongAdder();
    private final LongAdder bytes = new LongAdder();
    private final SortedMap<String, LongAdder> failures = new TreeMap<>();
    private volatile long lastSuccessMillis;
    private volatile @Nullable LastError lastError;

    private final AtomicBoolean interrupted = new AtomicBoolean();
    /** The time when each failing document was last logged; guarded by the monitor. */
    private final Map<DocumentName, Long> loggedNanos = new HashMap<>();
    /** Whether the log already states that further documents are not named; guarded by the monitor. */
    private boolean loggedMore;

    ArchiveCounters(InstantSource clock) {
        this.clock = clock;
        Failure.KINDS.forEach(kind -> failures.put(kind, new LongAdder()));
    }

    void documentArchived() {
        documents.increment();
        lastSuccessMillis = clock.millis();
    }

    void deletionArchived() {
        tombstones.increment();
        lastSuccessMillis = clock.millis();
    }

    void written(long count) {
        bytes.add(count);
    }

    /** Records that all archiving work for a document name is done. */
    void succeeded(DocumentName name) {
        if (interrupted.get() && interrupted.compareAndSet(true, false)) {
            LOG.info("archiving continues");
        }
        synchronized (this) {
            loggedNanos.remove(name);
            loggedMore &= loggedNanos.size() >= MOST_NAMES;
        }
    }

    /** Counts a failure that the caller logs. */
    void failed(Failure failure) {
        Objects.requireNonNull(failures.get(failure.kind())).increment();
        lastError = new LastError(failure.kind(), failure.message(), clock.millis());
    }

    void interrupted(Failure failure) {
        failed(failure);
        if (interrupted.compareAndSet(false, true)) {
            LOG.warn("archiving is interrupted, retrying: {}", failure.message());
        }
    }

    /** Records that a document cannot be archived; it is retried in the next round. */
    void failed(DocumentName name, Failure failure, Throwable problem) {
        failed(failure);
        if (!mayLog(name, System.nanoTime())) {
            return;
        }
        if (failure.internal()) {
            LOG.error("document '{}' is not archived, because of an error in the server", name, problem);
        } else {
            LOG.warn("document '{}' is not archived: {}", name, failure.message());
        }
    }

    private synchronized boolean mayLog(DocumentName name, long nowNanos) {
        loggedNanos.values().removeIf(logged -> nowNanos - logged >= QUIET_NANOS);
        if (loggedNanos.containsKey(name)) {
            return false;
        }
        if (loggedNanos.size() >= MOST_NAMES) {
            if (!loggedMore) {
                LOG.warn("more than {} documents cannot be archived; the log names no others for now", MOST_NAMES);
            }
            loggedMore = true;
            return false;
        }
        loggedNanos.put(name, nowNanos);
        return true;
    }

    long successes() {
        return documents.sum() + tombstones.sum();
    }

    @Nullable
    LastError lastError() {
        return lastError;
    }

    ArchiveStatus status(Ownership ownership, Backlog backlog, BackOff backOff) {
        SortedMap<String, Long> sums = new TreeMap<>();
        long now = clock.millis();
        failures.forEach((kind, count) -> sums.put(kind, count.sum()));
        return new ArchiveStatus(
                ownership.location(),
                ownership.state(),
                ownership.epoch(),
                backlog.count,
                Math.max(0, now - backlog.oldestMillis) / 1e3,
                Math.max(0, now - backlog.dueMillis) / 1e3,
                documents.sum(),
                tombstones.sum(),
                bytes.sum(),
                sums,
                lastSuccessMillis,
                lastError,
                backOff.remainingNanos() / 1e9);
    }
}
