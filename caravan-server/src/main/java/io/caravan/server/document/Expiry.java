package io.caravan.server.document;

import java.time.InstantSource;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;

/**
 * When documents expire. A fixed time is stored with the document. For a sliding expiry only its length is; the last use is
 * kept here, in memory, and a restart counts as a use of every document, so that none expires early.
 */
final class Expiry {
    private final InstantSource clock;
    private final long startedMillis;
    /** When documents with a sliding expiry were last used, in milliseconds since 1970, by id. */
    private final Map<Long, Long> lastUse = new ConcurrentHashMap<>();

    Expiry(InstantSource clock) {
        this.clock = clock;
        this.startedMillis = clock.millis();
    }

    /** The current time in milliseconds since 1970. */
    long nowMillis() {
        return clock.millis();
    }

    /** When the document expires, in milliseconds since 1970, if it is not used until then. */
    OptionalLong deadlineMillis(long id, DocumentAttributes attributes) {
        OptionalLong ttl = attributes.ttlSeconds();
        if (ttl.isEmpty()) {
            return attributes.expiresAtMillis();
        }
        long used = lastUse.getOrDefault(id, startedMillis);
        return OptionalLong.of(used + Math.min(ttl.getAsLong(), Integer.MAX_VALUE) * 1000);
    }

    boolean expired(long id, DocumentAttributes attributes) {
        if (!attributes.expires()) {
            return false;
        }
        OptionalLong deadline = deadlineMillis(id, attributes);
        return deadline.isPresent() && clock.millis() >= deadline.getAsLong();
    }

    /** Records that the document is read or written. */
    void use(long id, DocumentAttributes attributes) {
        if (attributes.ttlSeconds().isPresent()) {
            lastUse.put(id, clock.millis());
        }
    }

    /** Removes a deleted document. */
    void forget(long id) {
        lastUse.remove(id);
    }
}
