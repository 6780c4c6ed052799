package io.caravan.bench.network;

import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Locale;
import java.util.function.LongConsumer;

/** A text value that contains its due time, in {@link System#nanoTime()}. All have the same length. */
final class StampedValue {
    static final int BYTES = 200;

    private static final int DIGITS = 20;

    private StampedValue() {}

    static byte[] of(long nanos) {
        byte[] value = new byte[BYTES];
        Arrays.fill(value, (byte) 'x');
        byte[] stamp = String.format(Locale.ROOT, "%0" + DIGITS + "d", nanos).getBytes(StandardCharsets.US_ASCII);
        System.arraycopy(stamp, 0, value, 0, DIGITS);
        return value;
    }

    /**
     * Passes on the stamps of consecutive values.
     *
     * @throws NumberFormatException when the bytes contain anything else
     */
    static void stamps(ByteBuf values, LongConsumer stamps) {
        while (values.isReadable()) {
            String stamp = values.toString(values.readerIndex(), DIGITS, StandardCharsets.US_ASCII);
            values.skipBytes(BYTES);
            stamps.accept(Long.parseLong(stamp));
        }
    }
}
