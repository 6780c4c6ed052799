package io.caravan.server.archive.push;

import io.caravan.catalog.DocumentName;
import io.caravan.server.archive.push.ArchiveSchedule.Backlog;
import io.caravan.server.archive.push.ArchiveStatus.LastError;
import java.time.InstantSource;
import java.util.HashSet;
import java.util.Objects;
import java.util.Set;
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
 * when it resumes. In each period of 10 minutes, it logs at most one message for each document that cannot be archived,
 * for a limited number of documents. Thread-safe.
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
    /** The failing documents of the current period, up to the first one that the log does not name; guarded by this. */
    private final Set<DocumentName> logged = new HashSet<>();
    /** The {@link System#nanoTime} at which the period began; guarded by this. */
    private long periodNanos = System.nanoTime();

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
            logged.remove(name);
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
        if (!mayLog(name)) {
            return;
        }
        if (failure.internal()) {
            LOG.error("document '{}' is not archived, because of an error in the server", name, problem);
        } else {
            LOG.warn("document '{}' is not archived: {}", name, failure.message());
        }
    }

    private synchronized boolean mayLog(DocumentName name) {
        long now = System.nanoTime();
        if (now - periodNanos >= QUIET_NANOS) {
            periodNanos = now;
            logged.clear();
        }
        if (logged.size() > MOST_NAMES || !logged.add(name)) {
            return false;
        }
        if (logged.size() > MOST_NAMES) {
            LOG.warn("more than {} documents cannot be archived; the log names no others for now", MOST_NAMES);
        }
        return logged.size() <= MOST_NAMES;
    }

    long successes() {
        return documents.sum() + tombstones.sum();
    }

    @Nullable
    LastError lastError() {
        return lastError;
    }

    ArchiveStatus status(String location, Ownership ownership, Backlog backlog, BackOff backOff) {
        SortedMap<String, Long> sums = new TreeMap<>();
        long now = clock.millis();
        failures.forEach((kind, count) -> sums.put(kind, count.sum()));
        return new ArchiveStatus(
                location,
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
