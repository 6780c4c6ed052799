package io.caravan.server.cli.document;

import io.caravan.StoreConfig;
import io.caravan.server.cli.client.ClientException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.Iterator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The values to append, in order. Not thread-safe. */
public interface ValueSource {
    /** The largest value length that a server can accept: the maximum of {@code --max-value}. */
    int MAX_VALUE_BYTES = StoreConfig.MAX_VALUE_BYTES;

    /**
     * Returns the next value, or null after the last one.
     *
     * @throws ClientException if the value is too long
     */
    byte @Nullable [] next() throws IOException;

    static ValueSource of(List<byte[]> values) {
        Iterator<byte[]> remaining = values.iterator();
        return () -> remaining.hasNext() ? remaining.next() : null;
    }

    /** Splits an input into blocks of this length; the last block may be shorter. */
    static ValueSource blocks(InputStream in, int bytes) {
        return () -> {
            byte[] block = in.readNBytes(bytes);
            return block.length == 0 ? null : block;
        };
    }

    /**
     * Returns all bytes of the input as one value.
     *
     * @throws ClientException if the input is too long
     */
    static byte[] whole(InputStream in) throws IOException {
        byte[] value = in.readNBytes(MAX_VALUE_BYTES + 1);
        check(value.length, "the input");
        return value;
    }

    private static void check(int length, String what) {
        if (length > MAX_VALUE_BYTES) {
            throw ClientException.failed(what + " is longer than " + MAX_VALUE_BYTES
                    + " bytes, more than any server accepts as one value; append lines with --lines, or split it");
        }
    }

    /**
     * Returns each line as a value, without its line feed; the last line may have none.
     *
     * @param beforeWait runs within {@link #next} if the input has no bytes available
     */
    static ValueSource lines(InputStream in, Runnable beforeWait) {
        return new Lines(in, beforeWait);
    }

    /** Splits an input, which is read in blocks, into lines. */
    final class Lines implements ValueSource {
        private static final int BLOCK_BYTES = 64 * 1024;

        private final InputStream in;
        private final Runnable beforeWait;
        private final byte[] block = new byte[BLOCK_BYTES];
        private int position;
        private int limit;
        private long number;

        private Lines(InputStream in, Runnable beforeWait) {
            this.in = in;
            this.beforeWait = beforeWait;
        }

        @Override
        public byte @Nullable [] next() throws IOException {
            if (!fill()) {
                return null;
            }
            number++;
            ByteArrayOutputStream line = new ByteArrayOutputStream();
            boolean ended = false;
            while (!ended && fill()) {
                int end = endInBlock();
                line.write(block, position, end - position);
                check(line.size(), "line " + number + " of the input");
                ended = end < limit;
                position = ended ? end + 1 : end;
            }
            return line.toByteArray();
        }

        private int endInBlock() {
            int end = position;
            while (end < limit && block[end] != '\n') {
                end++;
            }
            return end;
        }

        /** Fills the block if no bytes are left in it; returns false at the end of the input. */
        private boolean fill() throws IOException {
            if (position == limit) {
                if (in.available() == 0) {
                    beforeWait.run();
                }
                position = 0;
                limit = Math.max(0, in.read(block));
            }
            return position < limit;
        }
    }
}
