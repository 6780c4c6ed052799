package io.caravan.server.document;

import io.caravan.CaravanException;
import io.caravan.CorruptStoreException;
import io.caravan.ListInfo;
import io.caravan.ListStore;
import io.caravan.WriteCallback;
import io.caravan.catalog.DocumentName;
import io.caravan.catalog.Edit;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A journal of document deletions that are not archived yet, stored in a list of the store or of one of its shards. A
 * deletion is recorded in the same batch that deletes the document, so that the record survives a restart. A full store
 * accepts such a batch as long as it has space reserved for it. The record is trimmed once the deletion is archived.
 *
 * <p><b>Locks.</b> The list lock is acquired after the locks of document names, around each write to the list, so that
 * the order of the entries is known. This object's monitor guards the fields in memory. It is never held during a wait,
 * because store threads also acquire it.
 */
final class DeletionJournal {
    static final long LIST_ID = -1;

    private static final Logger LOG = LoggerFactory.getLogger(DeletionJournal.class);

    private final ListStore store;
    private final ReentrantLock list = new ReentrantLock();
    /** Durable deletions, oldest first. Guarded by the monitor. */
    private final Set<DeletionRecord> pending = new LinkedHashSet<>();
    /**
     * The sequences of the records of unarchived deletions, in the order of the list. Contains a record before it is
     * written, because the store may report later records first. Guarded by the monitor.
     */
    private final Map<DeletionRecord, Long> sequences = new LinkedHashMap<>();
    /** The number of unarchived deletions for each name, durable or not. Guarded by the monitor. */
    private final Map<DocumentName, Integer> names = new HashMap<>();
    /** The first sequence of the list. Guarded by the monitor. */
    private long firstSequence;
    /** The next sequence of the list. Changed only under the list lock. */
    private volatile long nextSequence;

    DeletionJournal(ListStore store) {
        this.store = store;
        ListInfo info = store.info(LIST_ID);
        if (info != null) {
            firstSequence = info.firstSequence();
            nextSequence = info.nextSequence();
            store.get(LIST_ID, this::load);
        }
    }

    private boolean load(long sequence, ByteBuffer value) {
        try {
            DeletionRecord deletion = DeletionRecord.decode(value);
            add(deletion, sequence);
            pending.add(deletion);
            return true;
        } catch (IllegalArgumentException invalid) {
            throw new CorruptStoreException(
                    "journal of deletions", 0, LIST_ID, sequence, String.valueOf(invalid.getMessage()));
        }
    }

    /** Commits an edit with the records of its deletions. If {@link Edit#commit} throws, nothing has changed. */
    void commit(Edit edit, List<DeletionRecord> deletions, WriteCallback callback) {
        list.lock();
        try {
            deletions.forEach(deletion -> edit.append(LIST_ID, deletion.encode()));
            // Adds the deletions first, because a store may call back before the commit returns.
            long next = nextSequence;
            for (DeletionRecord deletion : deletions) {
                add(deletion, next++);
            }
            try {
                edit.commit(
                        new WriteCallback() {
                            @Override
                            public void success(long last) {
                                durable(deletions);
                                callback.success(last);
                            }

                            @Override
                            public void failure(CaravanException problem) {
                                deletions.forEach(DeletionJournal.this::remove);
                                callback.failure(problem);
                            }
                        },
                        false);
            } catch (RuntimeException | Error rejected) {
                deletions.forEach(this::remove);
                throw rejected;
            }
            nextSequence = next;
        } finally {
            list.unlock();
        }
    }

    private synchronized void add(DeletionRecord deletion, long sequence) {
        names.merge(deletion.name(), 1, Integer::sum);
        sequences.put(deletion, sequence);
    }

    private synchronized void durable(List<DeletionRecord> deletions) {
        pending.addAll(deletions);
    }

    private synchronized void remove(DeletionRecord deletion) {
        sequences.remove(deletion);
        names.computeIfPresent(deletion.name(), (name, count) -> count == 1 ? null : count - 1);
    }

    /** Returns the durable deletions, oldest first. */
    synchronized List<DeletionRecord> pending() {
        return List.copyOf(pending);
    }

    /** Whether a document with this name was deleted and the deletion might not be archived yet. */
    synchronized boolean isPending(DocumentName name) {
        return names.containsKey(name);
    }

    /** Removes a deletion that is now archived, and trims the journal if possible. */
    void archived(DeletionRecord deletion) {
        long keepFrom;
        synchronized (this) {
            if (!pending.remove(deletion)) {
                return;
            }
            remove(deletion);
            keepFrom = sequences.isEmpty()
                    ? nextSequence
                    : sequences.values().iterator().next();
            if (keepFrom <= firstSequence) {
                return;
            }
            firstSequence = keepFrom;
        }
        store.trimTo(LIST_ID, keepFrom).exceptionally(problem -> {
            LOG.debug("the journal of deletions is trimmed after the next start: {}", problem.getMessage());
            return 0L;
        });
    }
}
