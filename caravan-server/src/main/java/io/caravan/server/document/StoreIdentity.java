package io.caravan.server.document;

import io.caravan.CorruptStoreException;
import io.caravan.Entry;
import io.caravan.ListStore;
import io.caravan.WriteBatch;
import io.caravan.server.document.space.Spaces;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * The identity of a store, and a note that records whether the store is complete. Only stores restored from the archive
 * of a store share its identity.
 *
 * <p>Stored in a list of the store. The first value is the identity: a version (1) in one byte, and 16 bytes. Any
 * number of notes follow; only the last one counts. A note is a version (1) in one byte, and one byte, which is 1 while
 * some documents are only in the archive, otherwise 0.
 */
public final class StoreIdentity {
    static final long LIST_ID = -2;
    /** The id of the list that records the store's archive; it exists once the store has tried to claim one. */
    public static final long ARCHIVE_LIST_ID = -3;

    private static final byte VERSION = 1;
    private static final int BYTES = Byte.BYTES + 2 * Long.BYTES;
    private static final int NOTE_BYTES = 2 * Byte.BYTES;

    private StoreIdentity() {}

    /** Returns the store's identity, which is durable, and creates one if the store has none. */
    public static synchronized UUID of(ListStore store) {
        UUID identity = find(store);
        return identity == null ? write(store, UUID.randomUUID()) : identity;
    }

    public static @Nullable UUID find(ListStore store) {
        List<Entry> entries = store.read(LIST_ID);
        if (entries.isEmpty()) {
            return null;
        }
        ByteBuffer identity = decode(entries.get(0), BYTES, "an identity");
        return new UUID(identity.getLong(), identity.getLong());
    }

    /** Whether the store can adopt an identity, because it has only settings of spaces. Waits like a read. */
    public static boolean mayAdopt(ListStore store) {
        AtomicBoolean any = new AtomicBoolean();
        store.forEachList(id -> any.compareAndSet(false, id != Spaces.LIST_ID));
        return !any.get();
    }

    /**
     * Sets the store's identity to that of the archived store, and records that the store is incomplete; both are
     * durable on return. Does nothing if the store already has this identity.
     *
     * @throws IllegalStateException when the store has another identity
     */
    public static void adopt(ListStore store, UUID identity) {
        UUID present = find(store);
        // The identity and the note are written in one batch, because a store that has only the identity would count as
        // complete.
        UUID adopted = present == null ? write(store, identity, note(true)) : present;
        if (!adopted.equals(identity)) {
            throw new IllegalStateException(
                    "the store is " + adopted + " and cannot become " + identity + "; restore to another directory");
        }
    }

    /** Whether documents in the archive may be missing from the store. Waits like a read. */
    public static boolean incomplete(ListStore store) {
        List<Entry> entries = store.read(LIST_ID);
        return entries.size() > 1
                && decode(entries.get(entries.size() - 1), NOTE_BYTES, "a note").get() == 1;
    }

    /** Sets {@link #incomplete(ListStore)} durably. The store must have an identity. */
    public static void incomplete(ListStore store, boolean incomplete) {
        if (incomplete(store) != incomplete) {
            store.append(LIST_ID, note(incomplete)).join();
        }
    }

    private static byte[] note(boolean incomplete) {
        return new byte[] {VERSION, (byte) (incomplete ? 1 : 0)};
    }

    private static UUID write(ListStore store, UUID identity, byte[]... notes) {
        byte[] encoded = ByteBuffer.allocate(BYTES)
                .put(VERSION)
                .putLong(identity.getMostSignificantBits())
                .putLong(identity.getLeastSignificantBits())
                .array();
        WriteBatch batch = WriteBatch.create().append(LIST_ID, encoded);
        for (byte[] note : notes) {
            batch.append(LIST_ID, note);
        }
        store.write(batch).join();
        return identity;
    }

    private static ByteBuffer decode(Entry entry, int length, String what) {
        ByteBuffer bytes = ByteBuffer.wrap(entry.value());
        if (bytes.remaining() != length || bytes.get() != VERSION) {
            throw new CorruptStoreException(
                    "identity", 0, LIST_ID, entry.sequence(), "is not " + what + " of version " + VERSION);
        }
        return bytes;
    }
}
