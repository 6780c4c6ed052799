package io.caravan.server.document.space;

import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.LongAdder;

/**
 * The rate limits of a space, and its counters since the server started. Both survive changes to the space's settings.
 * Thread-safe.
 */
record SpaceCounters(RateLimit writeRate, RateLimit byteRate, Map<Space.Counter, LongAdder> counts) {

    SpaceCounters(long nowNanos) {
        this(new RateLimit(nowNanos), new RateLimit(nowNanos), new EnumMap<>(Space.Counter.class));
        for (Space.Counter counter : Space.Counter.values()) {
            counts.put(counter, new LongAdder());
        }
    }

    LongAdder count(Space.Counter counter) {
        return Objects.requireNonNull(counts.get(counter));
    }
}
