package io.caravan.server.archive.push;

import io.caravan.server.archive.push.ArchiveStatus.LastError;
import java.time.InstantSource;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/** What the archiver counts of itself. Threads share it. */
final class ArchiveCounts {
    private final InstantSource clock;
    private final LongAdder documents = new LongAdder();
    private final LongAdder tombstones = new LongAdder();
    private final LongAdder bytes = new LongAdder();
    private final SortedMap<String, LongAdder> failures = new TreeMap<>();
    private volatile long lastSuccessMillis;
    private volatile @Nullable LastError lastError;

    ArchiveCounts(InstantSource clock) {
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

    void failed(Failure failure) {
        Objects.requireNonNull(failures.get(failure.kind())).increment();
        lastError = new LastError(failure.kind(), failure.message(), clock.millis());
    }

    /** Snapshots and deletions that were archived: tells whether there was any success since an earlier call. */
    long successes() {
        return documents.sum() + tombstones.sum();
    }

    long documents() {
        return documents.sum();
    }

    long tombstones() {
        return tombstones.sum();
    }

    long bytes() {
        return bytes.sum();
    }

    /** By every kind that there is. */
    SortedMap<String, Long> failures() {
        SortedMap<String, Long> sums = new TreeMap<>();
        failures.forEach((kind, count) -> sums.put(kind, count.sum()));
        return sums;
    }

    long lastSuccessMillis() {
        return lastSuccessMillis;
    }

    @Nullable
    LastError lastError() {
        return lastError;
    }
}
