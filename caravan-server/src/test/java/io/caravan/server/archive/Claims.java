package io.caravan.server.archive;

import io.caravan.server.archive.object.ObjectStore;
import io.caravan.server.archive.push.ArchiveConfig;
import java.time.Duration;
import java.time.InstantSource;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;

/** Takes ownership of archives without waiting, for stores without a record of earlier owners. */
public final class Claims {
    private Claims() {}

    public static Archive claim(ObjectStore objects, UUID store, String owner, InstantSource clock) {
        return claim(objects, store, owner, clock, new SkippedTime());
    }

    static Archive claim(ObjectStore objects, UUID store, String owner, InstantSource clock, Lease.Clock leaseClock) {
        return Archive.claim(objects, store, owner, clock, (before, next) -> true, leaseClock, Pace.UNLIMITED);
    }

    /** A clock that advances only when a caller sleeps or skips time. */
    public static class SkippedTime implements Lease.Clock {
        private final AtomicLong nanos = new AtomicLong();

        @Override
        public long nanoTime() {
            return nanos.get();
        }

        @Override
        public void sleep(long slept) throws InterruptedException {
            skip(slept);
        }

        void skip(long skipped) {
            nanos.addAndGet(skipped);
        }
    }

    /** Returns an archive configuration without pruning and with a real clock for ownership changes. */
    public static ArchiveConfig config(
            String location,
            Supplier<ObjectStore> place,
            boolean atHand,
            boolean adopts,
            boolean takeover,
            Duration after,
            int concurrency,
            long bytesPerSecond,
            boolean onStop) {
        return new ArchiveConfig(
                location,
                place,
                atHand,
                adopts,
                takeover,
                after,
                concurrency,
                bytesPerSecond,
                onStop,
                null,
                Lease.Clock.SYSTEM);
    }
}
