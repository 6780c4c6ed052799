package io.caravan.server.document.space;

import io.caravan.CorruptStoreException;
import io.caravan.ListInfo;
import io.caravan.ListStore;
import io.caravan.StoreVersionException;
import io.caravan.WriteBatch;
import io.caravan.WriteCallback;
import io.caravan.catalog.Attributes;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Stores the settings of the spaces in a list of the store. An entry contains the new settings of one space:
 *
 * <ul>
 * <li>a version, 1, in one byte;
 * <li>the length of the prefix in 2 bytes, big-endian, and the prefix;
 * <li>to the end of the entry, the settings as {@link Attributes}, each value in 8 bytes, big-endian; none if the space
 *       was removed.
 * </ul>
 *
 * <p>While the list retains more than twice as many entries as there are spaces, each update also appends copies of up
 * to two of the oldest entries. The list can then be trimmed. Not thread-safe.
 */
final class SpaceJournal {
    static final long LIST_ID = -4;

    private static final byte VERSION = 1;
    private static final String FILE = "list of spaces";
    private static final int HEAD = Byte.BYTES + Short.BYTES;

    private final ListStore store;

    /** The spaces, in the order of their entries, oldest entry first. */
    private Map<Prefix, Stored> spaces = new LinkedHashMap<>();

    private long nextSequence;

    /** The settings of a space, and the sequence of the entry that contains them. */
    private record Stored(long sequence, SpaceSettings settings) {}

    SpaceJournal(ListStore store) {
        this.store = store;
        ListInfo info = store.info(LIST_ID);
        if (info != null) {
            nextSequence = info.nextSequence();
            store.get(LIST_ID, (sequence, value) -> {
                read(sequence, value);
                return true;
            });
        }
    }

    private void read(long sequence, ByteBuffer entry) {
        try {
            byte version = entry.get();
            if (version != VERSION) {
                throw new StoreVersionException(FILE, version, VERSION, VERSION);
            }
            byte[] prefix = new byte[Short.toUnsignedInt(entry.getShort())];
            entry.get(prefix);
            byte[] encoded = new byte[entry.remaining()];
            entry.get(encoded);
            apply(spaces, Prefix.of(prefix), encoded.length == 0 ? null : decode(encoded), sequence);
        } catch (BufferUnderflowException | IllegalArgumentException invalid) {
            throw new CorruptStoreException(
                    FILE, 0, LIST_ID, sequence, "is not an entry of a space: " + invalid.getMessage());
        }
    }

    private static SpaceSettings decode(byte[] encoded) {
        SpaceSettings settings = SpaceSettings.decode(Attributes.decode(encoded));
        if (settings == null) {
            throw new StoreVersionException(FILE, VERSION + 1, VERSION, VERSION);
        }
        return settings;
    }

    private static void apply(Map<Prefix, Stored> spaces, Prefix prefix, @Nullable SpaceSettings now, long sequence) {
        spaces.remove(prefix);
        if (now != null) {
            spaces.put(prefix, new Stored(sequence, now));
        }
    }

    SortedMap<Prefix, SpaceSettings> settings() {
        SortedMap<Prefix, SpaceSettings> settings = new TreeMap<>();
        spaces.forEach((prefix, stored) -> settings.put(prefix, stored.settings()));
        return settings;
    }

    /**
     * Writes the new settings of a space, or null to remove it. If this method throws an exception, nothing has
     * changed. The future completes when the entry is durable.
     */
    CompletableFuture<Long> write(Prefix prefix, @Nullable SpaceSettings now) {
        Map<Prefix, Stored> after = new LinkedHashMap<>(spaces);
        WriteBatch batch = WriteBatch.create().append(LIST_ID, encode(prefix, now));
        long next = nextSequence;
        apply(after, prefix, now, next++);
        for (int i = 0; i < 2 && next - first(after, next) > 2L * after.size(); i++) {
            Map.Entry<Prefix, Stored> oldest = after.entrySet().iterator().next();
            batch.append(LIST_ID, encode(oldest.getKey(), oldest.getValue().settings()));
            apply(after, oldest.getKey(), oldest.getValue().settings(), next++);
        }
        batch.trimTo(LIST_ID, first(after, next));
        CompletableFuture<Long> durable = new CompletableFuture<>();
        store.write(batch, WriteCallback.completing(durable));
        spaces = after;
        nextSequence = next;
        return durable;
    }

    /** Returns the sequence of the oldest entry that is still valid. */
    private static long first(Map<Prefix, Stored> spaces, long next) {
        return spaces.values().stream().mapToLong(Stored::sequence).findFirst().orElse(next);
    }

    private static byte[] encode(Prefix prefix, @Nullable SpaceSettings now) {
        byte[] settings = now == null ? new byte[0] : now.encode().encoded();
        return ByteBuffer.allocate(HEAD + prefix.length() + settings.length)
                .put(VERSION)
                .putShort((short) prefix.length())
                .put(prefix.toBytes())
                .put(settings)
                .array();
    }
}
