package io.caravan.server.document;

import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * Which of a document's values are stored with the time at which they came: those from one sequence up to another, as
 * often as that has changed. Such a value has {@value #BYTES} bytes more in the store, behind its own: milliseconds since
 * 1970, big-endian. So its time is written, trimmed, shared with forks and replicated with it, and costs no look-up.
 * Immutable.
 *
 * <p>Encoded as the sequences at which it changed, oldest first, 8 bytes each, big-endian: from the first one on values
 * have a time, from the second one on they have none, and so on.
 */
final class Timestamps {
    static final Timestamps NONE = new Timestamps(new long[0]);

    /** Length of a time, in bytes. */
    static final int BYTES = Long.BYTES;

    /**
     * A document for which it has changed so often stays without times, as the number is even: its attributes are written
     * whole with every change of them.
     */
    static final int MOST_CHANGES = 16;

    private final long[] changes;

    private Timestamps(long[] changes) {
        this.changes = changes;
    }

    static Timestamps decode(byte[] encoded) {
        long[] changes = new long[encoded.length / Long.BYTES];
        ByteBuffer.wrap(encoded).asLongBuffer().get(changes);
        return new Timestamps(changes);
    }

    byte[] encode() {
        ByteBuffer encoded = ByteBuffer.allocate(changes.length * Long.BYTES);
        encoded.asLongBuffer().put(changes);
        return encoded.array();
    }

    boolean isNone() {
        return changes.length == 0;
    }

    /** Whether values that are appended have a time. */
    boolean on() {
        return changes.length % 2 == 1;
    }

    /** With values from this sequence on having a time, or none; the same when that is so, or has changed too often. */
    Timestamps with(boolean on, long nextSequence) {
        if (on == on() || changes.length == MOST_CHANGES) {
            return this;
        }
        long[] after = Arrays.copyOf(changes, changes.length + 1);
        after[changes.length] = nextSequence;
        return new Timestamps(after);
    }

    /** Whether the value with this sequence has a time. */
    boolean covers(long sequence) {
        int before = 0;
        while (before < changes.length && changes[before] <= sequence) {
            before++;
        }
        return before % 2 == 1;
    }

    /** How many values from one sequence up to another have a time. */
    long count(long from, long to) {
        long count = 0;
        for (int i = 0; i < changes.length; i += 2) {
            long end = i + 1 < changes.length ? Math.min(changes[i + 1], to) : to;
            count += Math.max(0, end - Math.max(changes[i], from));
        }
        return count;
    }

    /** A value as it is stored with its time. */
    static byte[] stored(byte[] value, long millis) {
        byte[] stored = Arrays.copyOf(value, value.length + BYTES);
        ByteBuffer.wrap(stored).putLong(value.length, millis);
        return stored;
    }

    /** Takes the time off a stored value: shortens the buffer by it, and returns it. */
    static long take(ByteBuffer stored) {
        int end = stored.limit() - BYTES;
        long millis = stored.getLong(end);
        stored.limit(end);
        return millis;
    }
}
