package io.caravan.server.protocol.http.endpoint;

import java.time.Instant;
import java.time.InstantSource;
import java.util.function.LongUnaryOperator;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Issues cursors, which prevent caches from serving the same live response forever. A cursor is the number of the
 * current interval of {@value #INTERVAL_SECONDS} seconds, but always greater than the cursor that the client sent.
 */
public final class Cursors {
    private static final long EPOCH_SECONDS =
            Instant.parse("2024-10-09T00:00:00Z").getEpochSecond();
    private static final long INTERVAL_SECONDS = 20;
    private static final long MAX_JITTER_SECONDS = 3600;
    /** The format of a cursor. Longer cursors are ignored, to prevent an overflow. */
    private static final Pattern CURSOR = Pattern.compile("[0-9]{1,15}");

    private final InstantSource clock;
    private final LongUnaryOperator random;

    /** Creates a source of cursors. {@code random} returns a number from 0, inclusive, to its argument, exclusive. */
    public Cursors(InstantSource clock, LongUnaryOperator random) {
        this.clock = clock;
        this.random = random;
    }

    /** Returns the cursor of a response. {@code given} is the client's cursor, or null; invalid text is ignored. */
    String next(@Nullable String given) {
        long current = Math.floorDiv(clock.instant().getEpochSecond() - EPOCH_SECONDS, INTERVAL_SECONDS);
        long last = given != null && CURSOR.matcher(given).matches() ? Long.parseLong(given) : -1;
        if (last < current) {
            return Long.toString(current);
        }
        long jitterSeconds = 1 + random.applyAsLong(MAX_JITTER_SECONDS);
        return Long.toString(last + (jitterSeconds + INTERVAL_SECONDS - 1) / INTERVAL_SECONDS);
    }
}
