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
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
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
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A journal of document deletions that are not archived yet, stored in a list of the store or of one of its shards. A
 * deletion is recorded in the same batch that deletes the document, so that the record survives a restart. The record
 * is trimmed once the deletion is archived.
 *
 * <p>If the store has no space for the record, the write deletes the document without it, because that may be how space
 * becomes free. Such a write is acknowledged later, once its deletions are recorded or archived. Until then, further
 * deletions of the same names are recorded later, too, so that the records of a name are in the order of its deletions.
 *
 * <p><b>Locks.</b> The list lock is acquired after the locks of document names, around each write to the list, so that
 * the order of the entries is known. This object's monitor guards the fields in memory. It is never held during a wait,
 * because store threads also acquire it.
 */
final class DeletionJournal {
    static final long LIST_ID = -1;

    private static final Logger LOG = LoggerFactory.getLogger(DeletionJournal.class);
    /** Runs an attempt to record deletions for which the store had no space. */
    private static final Executor LATER = CompletableFuture.delayedExecutor(250, TimeUnit.MILLISECONDS);

    private final ListStore store;
    private final ReentrantLock list = new ReentrantLock();
    /** Durable deletions, oldest first. Guarded by the monitor. */
    private final Set<DeletionRecord> pending = new LinkedHashSet<>();
    /** The sequences of the durable records of pending deletions. Guarded by the monitor. */
    private final Map<DeletionRecord, Long> sequences = new LinkedHashMap<>();
    /** Deletions, durable or not, that were written without a record and have none yet. Guarded by the monitor. */
    private final Set<DeletionRecord> unrecorded = new LinkedHashSet<>();
    /** The number of unarchived deletions for each name, durable or not. Guarded by the monitor. */
    private final Map<DocumentName, Integer> names = new HashMap<>();
    /** The writes to acknowledge once their deletions are recorded or archived. Guarded by the monitor. */
    private final Queue<WaitingWrite> waiting = new ArrayDeque<>();
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
                durable(List.of(deletion), sequence);
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
     * @param hasSpace whether the store might have space for records; if false, the edit deletes the documents without
     *     records
     */
    void commit(Edit edit, List<DeletionRecord> deletions, boolean hasSpace, WriteCallback callback) {
        list.lock();
        try {
            boolean withRecords = hasSpace && unrecorded(names(deletions)).isEmpty();
            if (withRecords) {
                deletions.forEach(deletion -> edit.append(LIST_ID, deletion.encode()));
            } else {
                LOG.warn(
                        "the store has no space to record the deletion of {} documents: the reply waits until it has"
                                + " space or the deletion is archived",
                        deletions.size());
            }
            long sequence = nextSequence;
            // Counts the deletions first, because a store may call back before the commit returns.
            synchronized (this) {
                deletions.forEach(this::accepted);
                if (!withRecords) {
                    unrecorded.addAll(deletions);
                }
            }
            try {
                edit.commit(
                        new WriteCallback() {
                            @Override
                            public void success(long last) {
                                durable(deletions, withRecords ? sequence : null);
                                if (withRecords) {
                                    callback.success(last);
                                } else {
                                    await(new WaitingWrite(deletions, last, callback));
                                }
                            }

                            @Override
                            public void failure(CaravanException problem) {
                                forget(deletions);
                                callback.failure(problem);
                            }
                        },
                        false);
            } catch (RuntimeException | Error rejected) {
                forget(deletions);
                throw rejected;
            }
            if (withRecords) {
                wrote(deletions.size());
            }
        } finally {
            list.unlock();
        }
    }

    private static Set<DocumentName> names(List<DeletionRecord> deletions) {
        return deletions.stream().map(DeletionRecord::name).collect(Collectors.toSet());
    }

    private synchronized void accepted(DeletionRecord deletion) {
        names.merge(deletion.name(), 1, Integer::sum);
    }

    private synchronized void wrote(int entries) {
        nextSequence += entries;
    }

    private synchronized void durable(List<DeletionRecord> deletions, @Nullable Long sequence) {
        pending.addAll(deletions);
        if (sequence != null) {
            recorded(deletions, sequence);
        }
    }

    /** Notes the sequences of the durable records of deletions that are still pending. */
    private synchronized void recorded(List<DeletionRecord> deletions, long sequence) {
        for (int i = 0; i < deletions.size(); i++) {
            if (pending.contains(deletions.get(i))) {
                sequences.put(deletions.get(i), sequence + i);
            }
        }
        deletions.forEach(unrecorded::remove);
    }

    private synchronized void forget(List<DeletionRecord> deletions) {
        for (DeletionRecord deletion : deletions) {
            unrecorded.remove(deletion);
            names.computeIfPresent(deletion.name(), (name, count) -> count == 1 ? null : count - 1);
        }
    }

    /** Whether a write waits until the deletions that the store had no space to record are archived. */
    synchronized boolean archiveAwaited() {
        return !waiting.isEmpty();
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
                List<DeletionRecord> earlier = unrecorded(documents);
                if (earlier.isEmpty()) {
                    callback.success(last);
                } else {
                    await(new WaitingWrite(earlier, last, callback));
                }
            }

            @Override
            public void failure(CaravanException problem) {
                callback.failure(problem);
            }
        };
    }

    private synchronized List<DeletionRecord> unrecorded(Collection<DocumentName> documents) {
        return unrecorded.isEmpty()
                ? List.of()
                : unrecorded.stream()
                        .filter(deletion -> documents.contains(deletion.name()))
                        .toList();
    }

    /** Acknowledges a write later. While writes wait, one attempt to record their deletions follows another. */
    private void await(WaitingWrite write) {
        boolean first;
        synchronized (this) {
            first = waiting.isEmpty();
            waiting.add(write);
        }
        if (first) {
            LATER.execute(this::tryRecording);
        }
    }

    /** Acknowledges writes whose deletions are recorded or archived, and tries to record those of the next write. */
    private void tryRecording() {
        List<WaitingWrite> done = new ArrayList<>();
        WaitingWrite next;
        synchronized (this) {
            waiting.removeIf(write -> Collections.disjoint(write.deletions, unrecorded) && done.add(write));
            next = waiting.peek();
        }
        done.forEach(write -> complete(write, null));
        try {
            if (next != null && !record(next)) {
                LATER.execute(this::tryRecording);
            }
        } catch (RuntimeException | Error problem) {
            // An exception would end the attempts.
            LOG.error("the deletion of documents could not be recorded; the server tries again", problem);
            LATER.execute(this::tryRecording);
        }
    }

    /**
     * Records the deletions of a write that have no record and are not archived. Returns false if this was not possible
     * yet. Otherwise, the next attempt follows once the records are durable.
     */
    private boolean record(WaitingWrite write) {
        list.lock();
        try {
            List<DeletionRecord> deletions;
            synchronized (this) {
                deletions =
                        write.deletions.stream().filter(unrecorded::contains).toList();
            }
            if (deletions.isEmpty() || !store.writable()) {
                return false;
            }
            long sequence = nextSequence;
            WriteBatch batch = WriteBatch.create();
            deletions.forEach(deletion -> batch.append(LIST_ID, deletion.encode()));
            boolean accepted = store.tryWrite(batch, new WriteCallback() {
                @Override
                public void success(long last) {
                    recorded(deletions, sequence);
                    CompletableFuture.runAsync(DeletionJournal.this::tryRecording);
                }

                @Override
                public void failure(CaravanException problem) {
                    fail(write, problem);
                }
            });
            if (accepted) {
                wrote(deletions.size());
            }
            return accepted;
        } catch (OutOfSpaceException full) {
            return false;
        } catch (CaravanException problem) {
            fail(write, problem);
            return true;
        } finally {
            list.unlock();
        }
    }

    private void fail(WaitingWrite write, CaravanException problem) {
        synchronized (this) {
            waiting.remove(write);
        }
        complete(write, problem);
        CompletableFuture.runAsync(this::tryRecording);
    }

    /** Calls the callback of a write; {@code problem} is null if its deletions are recorded or archived. */
    private static void complete(WaitingWrite write, @Nullable CaravanException problem) {
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
            forget(List.of(deletion));
            sequences.remove(deletion);
            // Without a pending record, some may not be durable yet.
            keepFrom = !sequences.isEmpty()
                    ? sequences.values().iterator().next()
                    : names.isEmpty() ? nextSequence : firstSequence;
            if (keepFrom <= firstSequence) {
                return;
            }
            firstSequence = keepFrom;
        }
        trim(keepFrom);
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
     * A durable write that waits until deletions are recorded or archived.
     *
     * @param last the result of the write, for the callback
     */
    private record WaitingWrite(List<DeletionRecord> deletions, long last, WriteCallback callback) {}
}
