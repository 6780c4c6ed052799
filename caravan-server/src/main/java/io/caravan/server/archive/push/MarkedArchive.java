package io.caravan.server.archive.push;

import io.caravan.CaravanException;
import io.caravan.CorruptStoreException;
import io.caravan.Entry;
import io.caravan.ListStore;
import io.caravan.WriteCallback;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Which archive the marks of a store's documents are about: one at another place, or one that was begun anew, does not have
 * what they say. Kept in a list of the store, of which the last entry counts: a version, 1, in one byte, 1 or 0 in one byte
 * for whether all marks are about this archive, the epoch of its owner in 8 bytes, big-endian, and its location in UTF-8.
 */
final class MarkedArchive {
    /** The store's list that holds it. */
    static final long LIST_ID = -3;

    private static final Logger LOG = LoggerFactory.getLogger(MarkedArchive.class);
    private static final byte VERSION = 1;
    private static final int LOCATION = 2 * Byte.BYTES + Long.BYTES;

    private final ListStore store;

    MarkedArchive(ListStore store) {
        this.store = store;
    }

    /**
     * The archive was taken over: tells whether the marks are about it, and remembers that.
     *
     * @param epoch that of the new owner, which is above all that this archive has had
     */
    boolean claimed(String location, long epoch) {
        List<Entry> entries = store.read(LIST_ID);
        boolean same = !entries.isEmpty() && same(entries.get(entries.size() - 1), location, epoch);
        write(location, epoch, same);
        return same;
    }

    /** The archive is known to have what all marks say. */
    void complete(String location, long epoch) {
        write(location, epoch, true);
    }

    private static boolean same(Entry entry, String location, long epoch) {
        ByteBuffer bytes = ByteBuffer.wrap(entry.value());
        if (bytes.remaining() < LOCATION || bytes.get() != VERSION) {
            throw new CorruptStoreException(
                    "archive of the marks", 0, LIST_ID, entry.sequence(), "is not of version " + VERSION);
        }
        boolean complete = bytes.get() == 1;
        long lastEpoch = bytes.getLong();
        return complete
                && lastEpoch < epoch
                && StandardCharsets.UTF_8.decode(bytes).toString().equals(location);
    }

    /** Best effort: what is not remembered is looked at once more after the next start. */
    private void write(String location, long epoch, boolean complete) {
        byte[] text = location.getBytes(StandardCharsets.UTF_8);
        byte[] entry = ByteBuffer.allocate(LOCATION + text.length)
                .put(VERSION)
                .put((byte) (complete ? 1 : 0))
                .putLong(epoch)
                .put(text)
                .array();
        try {
            long sequence = store.append(LIST_ID, entry).join();
            store.trimTo(LIST_ID, sequence, new Ignored());
        } catch (CaravanException | CompletionException refused) {
            LOG.warn("the store does not remember which archive it has: {}", refused.getMessage());
        }
    }

    /** Entries that were not trimmed are trimmed next time. */
    private static final class Ignored implements WriteCallback {
        @Override
        public void success(long sequence) {}

        @Override
        public void failure(CaravanException problem) {
            LOG.debug("old entries stay", problem);
        }
    }
}
