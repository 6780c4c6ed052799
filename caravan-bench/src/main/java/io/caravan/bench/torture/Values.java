package io.caravan.bench.torture;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Self-describing values, which can be regenerated from their description.
 *
 * <pre>
 *   0    8        16       20          24
 *   +----+--------+--------+-----------+----------------------+
 *   | id | intent | op     | length    | bytes by the others  |
 *   +----+--------+--------+-----------+----------------------+
 * </pre>
 *
 * A value too short for its header has only the bytes.
 */
final class Values {
    private static final int INTENT_OFFSET = Long.BYTES;
    private static final int OP_OFFSET = INTENT_OFFSET + Long.BYTES;
    private static final int LENGTH_OFFSET = OP_OFFSET + Integer.BYTES;
    private static final int HEADER_BYTES = LENGTH_OFFSET + Integer.BYTES;

    private static final long GOLDEN_GAMMA = 0x9E3779B97F4A7C15L;

    private Values() {}

    /** The value that operation {@code op} of an intent appends to the list. */
    static byte[] bytes(long id, long intent, int op, int length) {
        ByteBuffer value = ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
        if (length >= HEADER_BYTES) {
            value.putLong(id).putLong(intent).putInt(op).putInt(length);
        }
        long state = mix(id ^ mix(intent ^ mix(((long) op << 32) ^ length)));
        while (value.remaining() >= Long.BYTES) {
            value.putLong(mix(state += GOLDEN_GAMMA));
        }
        for (long last = mix(state + GOLDEN_GAMMA); value.hasRemaining(); last >>>= Byte.SIZE) {
            value.put((byte) last);
        }
        return value.array();
    }

    /** A hash of all bytes, good enough to distinguish any two values. */
    static long fingerprint(ByteBuffer value) {
        ByteBuffer bytes = value.duplicate().order(ByteOrder.LITTLE_ENDIAN);
        long hash = mix(bytes.remaining());
        while (bytes.remaining() >= Long.BYTES) {
            hash = combine(hash, bytes.getLong());
        }
        while (bytes.hasRemaining()) {
            hash = combine(hash, bytes.get());
        }
        return hash;
    }

    /** Combines two hashes, in this order. */
    static long combine(long first, long second) {
        return mix(first ^ second) + GOLDEN_GAMMA;
    }

    /** Whether the value's header names this list; true for a value too short for a header. */
    static boolean belongsTo(long id, ByteBuffer value) {
        return value.remaining() < HEADER_BYTES || header(value).getLong(0) == id;
    }

    /** Describes a value by its header, for failure reports. */
    static String describe(ByteBuffer value) {
        if (value.remaining() < HEADER_BYTES) {
            return value.remaining() + " bytes";
        }
        ByteBuffer header = header(value);
        return value.remaining() + " bytes with the header: list " + header.getLong(0) + ", intent "
                + Intent.name(header.getLong(INTENT_OFFSET)) + ", operation " + header.getInt(OP_OFFSET) + ", "
                + header.getInt(LENGTH_OFFSET) + " bytes";
    }

    private static ByteBuffer header(ByteBuffer value) {
        return value.slice().order(ByteOrder.LITTLE_ENDIAN);
    }

    /** The finalizer of SplitMix64. */
    private static long mix(long z) {
        z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
        z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
        return z ^ (z >>> 31);
    }
}
