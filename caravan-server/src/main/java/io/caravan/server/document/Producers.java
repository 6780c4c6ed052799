package io.caravan.server.document;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.ByteBuffer;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
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
    static final Producers NONE = new Producers(Map.of());
    static final int MAX_BYTES = 8 * 1024;

    private final Map<String, Producer> stamps;

    private Producers(Map<String, Producer> stamps) {
        this.stamps = stamps;
    }

    static Producers decode(ByteBuffer bytes) {
        Map<String, Producer> stamps = new LinkedHashMap<>();
        while (bytes.hasRemaining()) {
            long epoch = bytes.getLong();
            long sequence = bytes.getLong();
            byte[] encodedId = new byte[bytes.getShort()];
            bytes.get(encodedId);
            String id = new String(encodedId, UTF_8);
            stamps.put(id, new Producer(id, epoch, sequence));
        }
        return new Producers(stamps);
    }

    byte[] encode() {
        ByteBuffer bytes = ByteBuffer.allocate(encodedBytes(stamps.values()));
        for (Producer stamp : stamps.values()) {
            byte[] id = stamp.id().getBytes(UTF_8);
            bytes.putLong(stamp.epoch())
                    .putLong(stamp.sequence())
                    .putShort((short) id.length)
                    .put(id);
        }
        return bytes.array();
    }

    private static int encodedBytes(Collection<Producer> stamps) {
        return stamps.stream()
                .mapToInt(stamp -> 2 * Long.BYTES + Short.BYTES + stamp.id().getBytes(UTF_8).length)
                .sum();
    }

    @Nullable
    Producer find(String id) {
        return stamps.get(id);
    }

    /** Returns a copy with this last append of its producer, without the oldest ones if it is too large. */
    Producers with(Producer last) {
        Map<String, Producer> after = new LinkedHashMap<>(stamps);
        after.remove(last.id());
        after.put(last.id(), last);
        while (encodedBytes(after.values()) > MAX_BYTES) {
            after.remove(after.keySet().iterator().next());
        }
        return new Producers(after);
    }
}
