package io.caravan.server.archive.push;

import io.caravan.CaravanException;
import io.caravan.CorruptStoreException;
import io.caravan.Durability;
import io.caravan.Entry;
import io.caravan.ListInfo;
import io.caravan.ListStore;
import io.caravan.WriteBatch;
import io.caravan.server.archive.Lease.ClaimMemory;
import io.caravan.server.archive.format.ArchiveRoot;
import io.caravan.server.archive.object.ObjectStores;
import io.caravan.server.document.StoreIdentity;
import io.caravan.server.document.space.DocumentDurability;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A store's record of its archive. It identifies the archive to which the documents' marks refer. An archive at another
 * location, or one that was created again, does not contain the generations that the marks record. The record also
 * contains the owner name with which the store claimed the archive, so that the store can detect a later claim by
 * another copy of the store.
 *
 * <p>The documents' marks are trusted only if the last server of the store has stopped cleanly, and the archive has not
 * been missing or damaged since. Otherwise the store or the archive may be an older copy, or the store may have lost
 * writes that are in the archive. A copy of an open store, such as a backup, is therefore never trusted.
 *
 * <p>The record is the last entry of a list of the store:
 *
 * <ul>
 *   <li>a version, 2, in one byte;
 *   <li>one byte: 2 if all marks are trusted, otherwise 0; earlier releases wrote 1 while the server was running;
 *   <li>the epoch of the archive's owner in 8 bytes, big-endian;
 *   <li>the location of the archive;
 *   <li>to the end of the record, the owners that the store expects in the root, oldest first: the names with which it
 *   has tried to claim the archive, with an unknown result. The owner that the store found precedes the last of these
 *   names. An empty owner stands for no root.
 * </ul>
 *
 * <p>Texts are in UTF-8, each preceded by its length in 4 bytes.
 */
final class ArchiveBinding implements ClaimMemory {
    /** The id of the list that contains the record. */
    static final long LIST_ID = StoreIdentity.ARCHIVE_LIST_ID;

    private static final Logger LOG = LoggerFactory.getLogger(ArchiveBinding.class);
    private static final byte VERSION = 2;
    private static final byte TRUSTED = 2;
    private static final int HEAD = 2 * Byte.BYTES + Long.BYTES;
    /** Maximum number of owners in the record; further owners replace the oldest. */
    private static final int MOST_OWNERS = 16;

    private final ListStore store;
    /** Whether a write to the store survives a power failure only after the next checkpoint. */
    private final boolean checkpoints;

    private final String location;
    private final boolean takeover;

    /** Whether the store trusted the marks before the claim in progress. Used only by the claiming thread. */
    private boolean trusted;
    /** Whether the archive has been missing or damaged since the last claim. Used only by the claiming thread. */
    private boolean distrusted;

    /** Creates the binding; {@code takeover} states whether to take the archive over from any owner. */
    ArchiveBinding(ListStore store, DocumentDurability durability, String location, boolean takeover) {
        this.store = store;
        this.checkpoints = durability.durability() != Durability.SYNC;
        this.location = ObjectStores.canonical(location);
        this.takeover = takeover;
    }

    /**
     * The content of the record.
     *
     * @param epoch the epoch of the last claim that is known to have taken place
     */
    private record Record(boolean trusted, long epoch, String location, List<String> owners) {
        byte[] encode() {
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            bytes.writeBytes(ByteBuffer.allocate(HEAD)
                    .put(VERSION)
                    .put(trusted ? TRUSTED : 0)
                    .putLong(epoch)
                    .array());
            Stream.concat(Stream.of(location), owners.stream()).forEach(text -> {
                byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
                bytes.writeBytes(
                        ByteBuffer.allocate(Integer.BYTES).putInt(utf8.length).array());
                bytes.writeBytes(utf8);
            });
            return bytes.toByteArray();
        }

        static Record decode(Entry entry) {
            ByteBuffer bytes = ByteBuffer.wrap(entry.value());
            if (bytes.remaining() < HEAD || bytes.get() != VERSION) {
                throw corrupt(entry, "is not of version " + VERSION);
            }
            boolean trusted = bytes.get() == TRUSTED;
            long epoch = bytes.getLong();
            List<String> texts = new ArrayList<>();
            while (bytes.hasRemaining()) {
                texts.add(text(bytes, entry));
            }
            if (texts.isEmpty()) {
                throw corrupt(entry, "has no location");
            }
            return new Record(trusted, epoch, texts.get(0), texts.subList(1, texts.size()));
        }

        private static String text(ByteBuffer bytes, Entry entry) {
            int length = bytes.remaining() < Integer.BYTES ? -1 : bytes.getInt();
            if (length < 0 || length > bytes.remaining()) {
                throw corrupt(entry, "is cut off");
            }
            byte[] utf8 = new byte[length];
            bytes.get(utf8);
            return new String(utf8, StandardCharsets.UTF_8);
        }

        private static CorruptStoreException corrupt(Entry entry, String problem) {
            return new CorruptStoreException("archive of the marks", 0, LIST_ID, entry.sequence(), problem);
        }
    }

    /** Returns the record of the archive at this location, or null when there is none. */
    private @Nullable Record remembered() {
        List<Entry> entries = store.read(LIST_ID);
        Record last = entries.isEmpty() ? null : Record.decode(entries.get(entries.size() - 1));
        return last != null && ObjectStores.canonical(last.location()).equals(location) ? last : null;
    }

    @Override
    public boolean claiming(String before, String owner) {
        Record last = remembered();
        if (!takeover && last != null && !last.owners().contains(before)) {
            return false;
        }
        // The marks do not reflect the changes of another owner.
        Record known = last != null && last.owners().contains(before) ? last : null;
        trusted = known != null && (trusted || known.trusted());
        List<String> owners = new ArrayList<>(known == null ? List.of() : known.owners());
        owners.remove(before);
        while (owners.size() > MOST_OWNERS - 2) {
            owners.remove(0);
        }
        // The owner found in the root stays in the record, because it remains in the root if the claim fails.
        owners.add(before);
        owners.add(owner);
        // A copy of the store could be made while the archive is claimed, and must not be trusted.
        write(new Record(false, last == null ? 0 : last.epoch(), location, owners));
        // The archive must not contain an owner that a crash removes from the store's record.
        force();
        return true;
    }

    /**
     * Records that the archive was claimed with a new epoch, and that the marks are not trusted after a crash. Returns
     * whether they are trusted now.
     */
    boolean claimed(ArchiveRoot root) {
        Record last = remembered();
        boolean same = trusted && !distrusted && !takeover && last != null && last.epoch() < root.epoch();
        write(new Record(false, root.epoch(), location, List.of(root.owner())));
        trusted = false;
        distrusted = false;
        return same;
    }

    /** Records that the marks are not trusted, because the archive is missing or damaged. */
    void distrust() {
        distrusted = true;
        Record last = remembered();
        if (last != null && last.trusted()) {
            write(new Record(false, last.epoch(), location, last.owners()));
            force();
        }
    }

    /**
     * Records that the marks are trusted, because the server is stopping cleanly. If recording this fails, or the
     * archive was claimed again in the meantime, all documents are checked after the next start.
     */
    void stopped(ArchiveRoot root) {
        try {
            Record last = remembered();
            ListInfo list = store.info(LIST_ID);
            if (last == null || list == null || last.epoch() != root.epoch()) {
                return;
            }
            if (store.shards().size() > 1) {
                // The record must not survive a crash that loses earlier writes of another shard.
                store.flush();
                force();
            }
            byte[] record = new Record(true, root.epoch(), location, List.of(root.owner())).encode();
            store.write(WriteBatch.create().expect(LIST_ID, list.nextSequence()).append(LIST_ID, record))
                    .join();
        } catch (CaravanException | CompletionException rejected) {
            LOG.info("cannot record in the store that its archive marks are right: {}", rejected.getMessage());
        }
    }

    /** Makes all acknowledged writes durable. */
    private void force() {
        if (checkpoints) {
            store.checkpoint();
        }
    }

    private void write(Record last) {
        long sequence = store.append(LIST_ID, last.encode()).join();
        // If this fails, the next write trims the old entries.
        store.trimTo(LIST_ID, sequence);
    }
}
