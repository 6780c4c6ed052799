package io.caravan.server.document;

import java.time.InstantSource;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * When documents expire. A fixed time is kept with the document, and compared with the wall clock. A sliding expiry is
 * kept as its length; the last read or write of the document is kept here, in memory, by a clock that nobody sets. A
 * restart counts as a read of every document, so that none expires early.
 */
final class Expiry {
    private final InstantSource clock;
    private final LongSupplier nanoTime;
    private final long startedNanos;
    /** When documents with a sliding expiry were last used, by id, in nanoseconds of {@code nanoTime}. */
    private final Map<Long, Long> lastUse = new ConcurrentHashMap<>();

    Expiry(InstantSource clock, LongSupplier nanoTime) {
        this.clock = clock;
        this.nanoTime = nanoTime;
        this.startedNanos = nanoTime.getAsLong();
    }

    /** The current time in milliseconds since 1970. */
    long nowMillis() {
        return clock.millis();
    }

    /** When the document expires, in milliseconds since 1970, if it is not used until then. */
    OptionalLong deadlineMillis(long id, DocumentAttributes attributes) {
        OptionalLong ttl = attributes.ttlSeconds();
        return ttl.isEmpty()
                ? attributes.expiresAtMillis()
                : OptionalLong.of(clock.millis() + leftMillis(id, ttl.getAsLong()));
    }

    /** Time left of a sliding expiry; zero or less when it is over. */
    private long leftMillis(long id, long ttlSeconds) {
        long unusedNanos = nanoTime.getAsLong() - lastUse.getOrDefault(id, startedNanos);
        return Math.min(ttlSeconds, Integer.MAX_VALUE) * 1000 - TimeUnit.NANOSECONDS.toMillis(unusedNanos);
    }

    /** One that is being moved does not: its copy does, at the other server. */
    boolean expired(long id, DocumentAttributes attributes) {
        if (!attributes.expires() || attributes.fenced()) {
            return false;
        }
        OptionalLong ttl = attributes.ttlSeconds();
        if (ttl.isPresent()) {
            return leftMillis(id, ttl.getAsLong()) <= 0;
        }
        OptionalLong deadline = attributes.expiresAtMillis();
        return deadline.isPresent() && clock.millis() >= deadline.getAsLong();
    }

    /** Records that the document is read or written. */
    void use(long id, DocumentAttributes attributes) {
        if (attributes.ttlSeconds().isPresent()) {
            lastUse.put(id, nanoTime.getAsLong());
        }
    }

    /** Removes a deleted document. */
    void forget(long id) {
        lastUse.remove(id);
    }
}
