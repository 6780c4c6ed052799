package io.caravan.server.document;

import io.caravan.CorruptStoreException;
import io.caravan.Entry;
import io.caravan.ListStore;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Tells a store, and those restored from its archive, from all others. Kept in a list of the store, as a version, 1, in one
 * byte and the 16 bytes of the identity.
 */
public final class StoreIdentity {
    /** The store's list that holds it. */
    static final long LIST_ID = -2;

    private static final byte VERSION = 1;
    private static final int BYTES = Byte.BYTES + 2 * Long.BYTES;

    private StoreIdentity() {}

    /** The store's identity; one that has none gets one, which is durable when this returns. */
    public static UUID of(ListStore store) {
        UUID identity = find(store);
        return identity == null ? write(store, UUID.randomUUID()) : identity;
    }

    /** The store's identity, or null when it has none yet. */
    public static @Nullable UUID find(ListStore store) {
        List<Entry> entries = store.read(LIST_ID);
        return entries.isEmpty() ? null : decode(entries.get(0));
    }

    /** Whether the store has no identity and nothing else: it can become any other. Waits as a read does. */
    public static boolean mayAdopt(ListStore store) {
        AtomicBoolean any = new AtomicBoolean();
        store.forEachList(id -> any.set(true));
        return !any.get();
    }

    /**
     * Gives the store the identity of the one whose archive it is restored from; durable when this returns.
     *
     * @throws IllegalStateException when it has another one already
     */
    public static void adopt(ListStore store, UUID identity) {
        UUID present = find(store);
        UUID adopted = present == null ? write(store, identity) : present;
        if (!adopted.equals(identity)) {
            throw new IllegalStateException(
                    "the store is " + adopted + " and cannot become " + identity + "; restore to another directory");
        }
    }

    private static UUID write(ListStore store, UUID identity) {
        store.append(
                        LIST_ID,
                        ByteBuffer.allocate(BYTES)
                                .put(VERSION)
                                .putLong(identity.getMostSignificantBits())
                                .putLong(identity.getLeastSignificantBits())
                                .array())
                .join();
        return identity;
    }

    private static UUID decode(Entry entry) {
        ByteBuffer bytes = ByteBuffer.wrap(entry.value());
        if (bytes.remaining() != BYTES || bytes.get() != VERSION) {
            throw new CorruptStoreException(
                    "identity", 0, LIST_ID, entry.sequence(), "is not an identity of version " + VERSION);
        }
        return new UUID(bytes.getLong(), bytes.getLong());
    }
}
