package io.caravan.testing;

import java.nio.ByteBuffer;

/** A retained value, compared by its content. Created from a copy, which must not change. */
public record Value(long sequence, ByteBuffer bytes) {
    private static final int SHOWN_BYTES = 8;

    public static Value of(long sequence, byte[] bytes) {
        return new Value(sequence, ByteBuffer.wrap(bytes).asReadOnlyBuffer());
    }

    /** Returns a short string that distinguishes values in failure messages. */
    @Override
    public String toString() {
        StringBuilder text = new StringBuilder(sequence + ":" + bytes.remaining() + "[");
        for (int i = 0; i < Math.min(SHOWN_BYTES, bytes.remaining()); i++) {
            text.append(String.format("%02x", bytes.get(bytes.position() + i)));
        }
        return text.append(bytes.remaining() > SHOWN_BYTES ? "...]" : "]").toString();
    }
}
