package io.caravan.server.document;

import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * The ranges of a document's values that are stored with their arrival times. In the store, such a value is followed by
 * {@value #BYTES} more bytes: milliseconds since 1970, big-endian. The time is therefore written, trimmed, shared with
 * forks, and replicated with the value, and reading it requires no additional lookup. Immutable.
 *
 * <p>Encoded as the sequences at which timestamps were turned on or off, oldest first, 8 bytes each, big-endian. For
 * example, 10 and 20 mean that the values with sequences 10 to 19 have a time.
 */
final class Timestamps {
    static final Timestamps NONE = new Timestamps(new long[0]);

    static final int BYTES = Long.BYTES;

    /**
     * Maximum number of times that timestamps can be turned on or off; limited because every write of a document's
     * attributes stores all of these changes. It is even, so that new values then have no time.
     */
    static final int MOST_CHANGES = 16;

    private final long[] changes;

    Timestamps(long[] changes) {
        this.changes = changes;
    }

    byte[] encode() {
        return Attribute.encode("", changes);
    }

    /** Whether new values are stored with their arrival times. */
    boolean on() {
        return changes.length % 2 == 1;
    }

    /**
     * Returns a copy in which the values from this sequence on have arrival times if {@code on}, and none otherwise.
     * Returns this object if nothing would change, or if {@link #MOST_CHANGES} is reached.
     */
    Timestamps with(boolean on, long nextSequence) {
        if (on == on() || changes.length == MOST_CHANGES) {
            return this;
        }
        long[] after = Arrays.copyOf(changes, changes.length + 1);
        after[changes.length] = nextSequence;
        return new Timestamps(after);
    }

    boolean covers(long sequence) {
        int before = 0;
        while (before < changes.length && changes[before] <= sequence) {
            before++;
        }
        return before % 2 == 1;
    }

    /** Returns how many of the values from {@code from} (inclusive) to {@code to} (exclusive) have arrival times. */
    long count(long from, long to) {
        long count = 0;
        for (int i = 0; i < changes.length; i += 2) {
            long end = i + 1 < changes.length ? Math.min(changes[i + 1], to) : to;
            count += Math.max(0, end - Math.max(changes[i], from));
        }
        return count;
    }

    static byte[] stored(byte[] value, long millis) {
        byte[] stored = Arrays.copyOf(value, value.length + BYTES);
        ByteBuffer.wrap(stored).putLong(value.length, millis);
        return stored;
    }

    /** Removes the time from a stored value by shortening the buffer, and returns the time. */
    static long take(ByteBuffer stored) {
        int end = stored.limit() - BYTES;
        long millis = stored.getLong(end);
        stored.limit(end);
        return millis;
    }
}
