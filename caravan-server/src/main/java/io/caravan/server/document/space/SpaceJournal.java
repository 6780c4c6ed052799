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
import java.util.Iterator;
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

    /** The sequence of each space's entry, oldest entry first. */
    private Map<Prefix, Long> sequences = new LinkedHashMap<>();

    private SortedMap<Prefix, SpaceSettings> settings = new TreeMap<>();
    private long nextSequence;

    SpaceJournal(ListStore store) {
        this.store = store;
        ListInfo info = store.info(LIST_ID);
        if (info != null) {
            nextSequence = info.nextSequence();
            load();
        }
    }

    private void load() {
        store.get(LIST_ID, (sequence, value) -> {
            read(sequence, value);
            return true;
        });
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
            apply(sequences, settings, Prefix.of(prefix), encoded.length == 0 ? null : decode(encoded), sequence);
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

    private static void apply(
            Map<Prefix, Long> sequences,
            Map<Prefix, SpaceSettings> settings,
            Prefix prefix,
            @Nullable SpaceSettings now,
            long sequence) {
        sequences.remove(prefix);
        settings.remove(prefix);
        if (now != null) {
            sequences.put(prefix, sequence);
            settings.put(prefix, now);
        }
    }

    SortedMap<Prefix, SpaceSettings> settings() {
        return settings;
    }

    /**
     * Writes the new settings of a space. If this method throws an exception, nothing has changed.
     *
     * @param now null to remove the space
     * @return a future that completes when the entry is durable
     */
    CompletableFuture<Long> write(Prefix prefix, @Nullable SpaceSettings now) {
        Map<Prefix, Long> after = new LinkedHashMap<>(sequences);
        SortedMap<Prefix, SpaceSettings> changed = new TreeMap<>(settings);
        WriteBatch batch = WriteBatch.create().append(LIST_ID, encode(prefix, now));
        long next = nextSequence;
        apply(after, changed, prefix, now, next++);
        for (int i = 0; i < 2 && next - first(after, next) > 2L * after.size(); i++) {
            Prefix oldest = after.keySet().iterator().next();
            batch.append(LIST_ID, encode(oldest, changed.get(oldest)));
            after.remove(oldest);
            after.put(oldest, next++);
        }
        batch.trimTo(LIST_ID, first(after, next));
        CompletableFuture<Long> durable = new CompletableFuture<>();
        store.write(batch, WriteCallback.completing(durable));
        sequences = after;
        settings = changed;
        nextSequence = next;
        return durable;
    }

    /** Returns the sequence of the oldest entry that is still valid. */
    private static long first(Map<Prefix, Long> sequences, long next) {
        Iterator<Long> oldest = sequences.values().iterator();
        return oldest.hasNext() ? oldest.next() : next;
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
