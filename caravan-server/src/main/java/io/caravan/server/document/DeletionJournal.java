package io.caravan.server.document;

import io.caravan.CaravanException;
import io.caravan.CorruptStoreException;
import io.caravan.ListInfo;
import io.caravan.ListStore;
import io.caravan.OutOfSpaceException;
import io.caravan.WriteBatch;
import io.caravan.WriteCallback;
import io.caravan.catalog.DocumentName;
import io.caravan.catalog.Edit;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A journal of document deletions that are not archived yet, stored in a list of the store or of one of its shards. A
 * deletion is recorded in the same batch that deletes the document, so that the record survives a restart. The record
 * is trimmed once the deletion is archived.
 *
 * <p>If the store has no space for the record, the write deletes the document without it, because that may be how
 * space becomes free. Such a write is acknowledged later, once its deletions are recorded or archived.
 *
 * <p><b>Locks.</b> The list lock is acquired after the locks of document names, around each write to the list, so that
 * the order of the entries is known. This object's monitor guards the fields in
 * memory. It is never held during a wait, because store threads also acquire it.
 */
final class DeletionJournal {
    static final long LIST_ID = -1;

    private static final Logger LOG = LoggerFactory.getLogger(DeletionJournal.class);
    /** The placeholder for the sequence of a deletion that the store had no space to record. */
    private static final long UNWRITTEN = -1;
    /** Runs an attempt to record deletions for which the store had no space. */
    private static final Executor LATER = CompletableFuture.delayedExecutor(250, TimeUnit.MILLISECONDS);

    private final ListStore store;
    private final ReentrantLock list = new ReentrantLock();
    /** Durable deletions, in the order of their sequences in the list. Guarded by the monitor. */
    private final Map<DeletionRecord, Long> pending = new LinkedHashMap<>();
    /** The number of unarchived deletions for each name, durable or not. Guarded by the monitor. */
    private final Map<DocumentName, Integer> names = new HashMap<>();
    /** Durable deletions that have no durable record. Guarded by the monitor. */
    private final Set<DeletionRecord> unwritten = new LinkedHashSet<>();
    /** The writes that are acknowledged once their deletions have a record. Guarded by the monitor. */
    private final Queue<UnrecordedWrite> unrecorded = new ArrayDeque<>();
    /** The first sequence of the list. Guarded by the monitor. */
    private long firstSequence;
    /** The next sequence of the list. Guarded by the list lock and the monitor. */
    private long nextSequence;

    DeletionJournal(ListStore store) {
        this.store = store;
        ListInfo info = store.info(LIST_ID);
        if (info != null) {
            firstSequence = info.firstSequence();
            nextSequence = info.nextSequence();
            load();
        }
    }

    private void load() {
        store.get(LIST_ID, (sequence, value) -> {
            try {
                DeletionRecord deletion = DeletionRecord.decode(value);
                accepted(deletion);
                pending.put(deletion, sequence);
                return true;
            } catch (IllegalArgumentException invalid) {
                throw new CorruptStoreException(
                        "journal of deletions", 0, LIST_ID, sequence, String.valueOf(invalid.getMessage()));
            }
        });
    }

    /**
     * Commits an edit that deletes one or more documents in the journal's shard. If {@link Edit#commit} throws, nothing
     * has changed.
     *
     * @param record whether to write an entry for each deletion with the edit; if false, because the store has no
     *     space, the callback succeeds later, once the deletions are recorded or archived
     */
    void commit(Edit edit, List<DeletionRecord> deletions, boolean record, WriteCallback callback) {
        if (!record) {
            LOG.warn(
                    "the store has no space to record the deletion of {} documents: the reply waits until it has"
                            + " space or the deletion is archived",
                    deletions.size());
            commit(edit, deletions, UNWRITTEN, new WriteCallback() {
                @Override
                public void success(long last) {
                    recordLater(new UnrecordedWrite(deletions, last, callback));
                }

                @Override
                public void failure(CaravanException problem) {
                    callback.failure(problem);
                }
            });
            return;
        }
        list.lock();
        try {
            deletions.forEach(deletion -> edit.append(LIST_ID, deletion.encode()));
            long sequence = nextSequence;
            commit(edit, deletions, sequence, callback);
            synchronized (this) {
                nextSequence = sequence + deletions.size();
            }
        } finally {
            list.unlock();
        }
    }

    private void commit(Edit edit, List<DeletionRecord> deletions, long sequence, WriteCallback callback) {
        // Counts the deletions first, because a store may call back before the commit returns.
        deletions.forEach(this::accepted);
        try {
            edit.commit(
                    new WriteCallback() {
                        @Override
                        public void success(long last) {
                            durable(deletions, sequence);
                            callback.success(last);
                        }

                        @Override
                        public void failure(CaravanException problem) {
                            deletions.forEach(DeletionJournal.this::forget);
                            callback.failure(problem);
                        }
                    },
                    false);
        } catch (RuntimeException | Error rejected) {
            deletions.forEach(this::forget);
            throw rejected;
        }
    }

    private synchronized void accepted(DeletionRecord deletion) {
        names.merge(deletion.name(), 1, Integer::sum);
    }

    private synchronized void forget(DeletionRecord deletion) {
        names.computeIfPresent(deletion.name(), (name, count) -> count == 1 ? null : count - 1);
    }

    private synchronized void durable(List<DeletionRecord> deletions, long sequence) {
        for (int i = 0; i < deletions.size(); i++) {
            pending.put(deletions.get(i), sequence == UNWRITTEN ? UNWRITTEN : sequence + i);
        }
        if (sequence == UNWRITTEN) {
            unwritten.addAll(deletions);
        }
    }

    private void recordLater(UnrecordedWrite write) {
        boolean idle;
        synchronized (this) {
            idle = unrecorded.isEmpty();
            unrecorded.add(write);
        }
        if (idle) {
            LATER.execute(this::recordAll);
        }
    }

    /** Whether a write waits until the deletions that the store had no space to record are archived. */
    synchronized boolean archiveAwaited() {
        return !unrecorded.isEmpty();
    }

    /**
     * Returns the callback for a write that changes nothing in these documents. If one of the documents was deleted
     * without a record, the write is acknowledged after that deletion, because it may report that the document does not
     * exist.
     */
    WriteCallback afterDeletions(Collection<DocumentName> documents, WriteCallback callback) {
        return new WriteCallback() {
            @Override
            public void success(long last) {
                List<DeletionRecord> earlier = unwritten(documents);
                if (earlier.isEmpty()) {
                    callback.success(last);
                } else {
                    recordLater(new UnrecordedWrite(earlier, last, callback));
                }
            }

            @Override
            public void failure(CaravanException problem) {
                callback.failure(problem);
            }
        };
    }

    private synchronized List<DeletionRecord> unwritten(Collection<DocumentName> documents) {
        return unwritten.isEmpty()
                ? List.of()
                : unwritten.stream()
                        .filter(deletion -> documents.contains(deletion.name()))
                        .toList();
    }

    /** Records the deletions of all unrecorded writes. Continues later if the store still has no space. */
    private void recordAll() {
        try {
            while (record()) {
                synchronized (this) {
                    unrecorded.remove();
                    if (unrecorded.isEmpty()) {
                        return;
                    }
                }
            }
        } catch (RuntimeException | Error problem) {
            // An exception would end the attempts.
            LOG.error("the deletion of documents could not be recorded; the server tries again", problem);
        }
        LATER.execute(this::recordAll);
    }

    /**
     * Records the deletions of the oldest unrecorded write, except those that have a record or are archived. Returns
     * false if the store has no space.
     */
    private boolean record() {
        UnrecordedWrite write;
        List<DeletionRecord> deletions;
        synchronized (this) {
            write = unrecorded.element();
            deletions = write.deletions.stream().filter(unwritten::contains).toList();
        }
        if (deletions.isEmpty()) {
            complete(write, null);
            return true;
        }
        list.lock();
        try {
            if (!store.writable()) {
                return false;
            }
            long sequence = nextSequence;
            WriteBatch batch = WriteBatch.create();
            deletions.forEach(deletion -> batch.append(LIST_ID, deletion.encode()));
            boolean accepted = store.tryWrite(batch, new WriteCallback() {
                @Override
                public void success(long last) {
                    recorded(deletions, sequence);
                    complete(write, null);
                }

                @Override
                public void failure(CaravanException problem) {
                    complete(write, problem);
                }
            });
            if (accepted) {
                synchronized (this) {
                    nextSequence = sequence + deletions.size();
                }
            }
            return accepted;
        } catch (OutOfSpaceException full) {
            return false;
        } catch (CaravanException problem) {
            complete(write, problem);
            return true;
        } finally {
            list.unlock();
        }
    }

    /** Calls the callback of a write; {@code problem} is null if its deletions are recorded or archived. */
    private static void complete(UnrecordedWrite write, @Nullable CaravanException problem) {
        try {
            if (problem == null) {
                write.callback.success(write.last);
            } else {
                write.callback.failure(problem);
            }
        } catch (RuntimeException | Error thrown) {
            LOG.error("the callback of a deletion has failed", thrown);
        }
    }

    /** Sets the sequences of deletions that now have records, and moves these deletions behind those with records. */
    private synchronized void recorded(List<DeletionRecord> deletions, long sequence) {
        deletions.forEach(unwritten::remove);
        for (int i = 0; i < deletions.size(); i++) {
            if (pending.remove(deletions.get(i)) != null) {
                pending.put(deletions.get(i), sequence + i);
            }
        }
    }

    /** Returns the durable deletions, oldest first. */
    synchronized List<DeletionRecord> pending() {
        return pending.keySet().stream()
                .sorted(Comparator.comparingLong(DeletionRecord::deletedAtMillis))
                .toList();
    }

    /** Whether a document with this name was deleted and the deletion might not be archived yet. */
    synchronized boolean isPending(DocumentName name) {
        return names.containsKey(name);
    }

    /** Removes a deletion that is now archived, and trims the journal if possible. */
    void archived(DeletionRecord deletion) {
        long keepFrom;
        synchronized (this) {
            if (pending.remove(deletion) == null) {
                return;
            }
            unwritten.remove(deletion);
            forget(deletion);
            keepFrom = oldestNeeded();
            if (keepFrom <= firstSequence) {
                return;
            }
            firstSequence = keepFrom;
        }
        trim(keepFrom);
    }

    /** Returns the sequence of the oldest entry to keep; called with the monitor held. */
    private long oldestNeeded() {
        for (long sequence : pending.values()) {
            if (sequence != UNWRITTEN) {
                return sequence;
            }
        }
        // Some deletions may not be durable yet.
        return names.isEmpty() ? nextSequence : firstSequence;
    }

    private void trim(long keepFrom) {
        store.trimTo(LIST_ID, keepFrom, new WriteCallback() {
            @Override
            public void success(long sequence) {}

            @Override
            public void failure(CaravanException problem) {
                LOG.debug("the journal of deletions is trimmed after the next start: {}", problem.getMessage());
            }
        });
    }

    /**
     * A durable write that has deleted documents without a record.
     *
     * @param last the result of the write, for the callback
     */
    private record UnrecordedWrite(List<DeletionRecord> deletions, long last, WriteCallback callback) {}
}
