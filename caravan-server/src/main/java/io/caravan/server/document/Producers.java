package io.caravan.server.document;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The last append of each producer of a document, ordered from the oldest append to the newest. Immutable.
 *
 * <p>The size is bounded, because each append rewrites the attribute: above {@value #MAX_BYTES} bytes, the producers
 * whose last appends are oldest are discarded. A discarded producer counts as new: it must start at sequence 0.
 *
 * <p>Encoded as, for each producer: epoch and sequence in 8 bytes each, the length of the id in 2 bytes, and the id in
 * UTF-8.
 */
final class Producers {
    static final Producers NONE = new Producers(List.of());
    static final int MAX_BYTES = 8 * 1024;

    private final List<Producer> stamps;

    private Producers(List<Producer> stamps) {
        this.stamps = stamps;
    }

    static Producers decode(ByteBuffer bytes) {
        List<Producer> stamps = new ArrayList<>();
        while (bytes.hasRemaining()) {
            long epoch = bytes.getLong();
            long sequence = bytes.getLong();
            byte[] id = new byte[bytes.getShort()];
            bytes.get(id);
            stamps.add(new Producer(new String(id, StandardCharsets.UTF_8), epoch, sequence));
        }
        return new Producers(stamps);
    }

    byte[] encode() {
        ByteBuffer bytes = ByteBuffer.allocate(
                stamps.stream().mapToInt(Producers::encodedBytes).sum());
        for (Producer stamp : stamps) {
            byte[] id = stamp.id().getBytes(StandardCharsets.UTF_8);
            bytes.putLong(stamp.epoch())
                    .putLong(stamp.sequence())
                    .putShort((short) id.length)
                    .put(id);
        }
        return bytes.array();
    }

    private static int encodedBytes(Producer stamp) {
        return 2 * Long.BYTES + Short.BYTES + stamp.id().getBytes(StandardCharsets.UTF_8).length;
    }

    @Nullable
    Producer find(String id) {
        for (Producer stamp : stamps) {
            if (stamp.id().equals(id)) {
                return stamp;
            }
        }
        return null;
    }

    /** Returns a copy with this last append of its producer, without the oldest ones if it is too large. */
    Producers with(Producer last) {
        List<Producer> after = new ArrayList<>(stamps);
        after.removeIf(stamp -> stamp.id().equals(last.id()));
        after.add(last);
        int bytes = after.stream().mapToInt(Producers::encodedBytes).sum();
        while (bytes > MAX_BYTES) {
            bytes -= encodedBytes(after.remove(0));
        }
        return new Producers(after);
    }
}
