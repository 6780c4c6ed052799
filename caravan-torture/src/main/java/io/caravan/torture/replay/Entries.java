package io.caravan.torture.replay;

import io.caravan.torture.replay.Trace.Patch;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * Encodes and decodes the entries that a document server would store: transactions and snapshots.
 *
 * <pre>
 *   transaction:  'T' index count { position deleted length codePoint... }...
 *   snapshot:     'S' index length codePoint...          the text after the first {@code index} transactions
 * </pre>
 *
 * All numbers are variable-length, with seven bits in each byte and the lowest bits first, so a typed ASCII letter
 * takes one byte.
 */
final class Entries {
    private static final byte TRANSACTION = 'T';
    private static final byte SNAPSHOT = 'S';
    private static final int PAYLOAD_BITS = 7;
    private static final int PAYLOAD_MASK = 0x7F;
    private static final int MORE = 0x80;

    private Entries() {}

    /** Receives the contents of a decoded entry. */
    interface Reader {
        void transaction(int index, List<Patch> patches);

        void snapshot(int transactions, int[] text);
    }

    static byte[] transaction(int index, List<Patch> patches) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.write(TRANSACTION);
        putNumber(out, index);
        putNumber(out, patches.size());
        for (Patch patch : patches) {
            putNumber(out, patch.position());
            putNumber(out, patch.deleted());
            putText(out, patch.inserted());
        }
        return out.toByteArray();
    }

    static byte[] snapshot(int transactions, TextBuffer text) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.write(SNAPSHOT);
        putNumber(out, transactions);
        putText(out, text.toCodePoints());
        return out.toByteArray();
    }

    static void read(byte[] entry, Reader reader) {
        ByteBuffer in = ByteBuffer.wrap(entry);
        byte kind = in.get();
        int index = number(in);
        switch (kind) {
            case TRANSACTION -> reader.transaction(index, patches(in));
            case SNAPSHOT -> reader.snapshot(index, text(in));
            default -> throw new IllegalStateException("not an entry of a replay: kind " + kind);
        }
        if (in.hasRemaining()) {
            throw new IllegalStateException(in.remaining() + " extra bytes in an entry of kind " + kind);
        }
    }

    private static List<Patch> patches(ByteBuffer in) {
        List<Patch> patches = new ArrayList<>();
        for (int left = number(in); left > 0; left--) {
            patches.add(new Patch(number(in), number(in), text(in)));
        }
        return patches;
    }

    private static void putText(ByteArrayOutputStream out, int[] codePoints) {
        putNumber(out, codePoints.length);
        for (int codePoint : codePoints) {
            putNumber(out, codePoint);
        }
    }

    private static int[] text(ByteBuffer in) {
        int[] codePoints = new int[number(in)];
        for (int i = 0; i < codePoints.length; i++) {
            codePoints[i] = number(in);
        }
        return codePoints;
    }

    private static void putNumber(ByteArrayOutputStream out, int number) {
        int rest = number;
        while (rest > PAYLOAD_MASK) {
            out.write((rest & PAYLOAD_MASK) | MORE);
            rest >>>= PAYLOAD_BITS;
        }
        out.write(rest);
    }

    private static int number(ByteBuffer in) {
        int number = 0;
        for (int shift = 0; ; shift += PAYLOAD_BITS) {
            int next = in.get();
            number |= (next & PAYLOAD_MASK) << shift;
            if ((next & MORE) == 0) {
                return number;
            }
        }
    }
}
