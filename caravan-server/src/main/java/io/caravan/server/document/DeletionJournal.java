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
import java.util.Iterator;
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

    /** The total length of the names that one attempt records; the last name may exceed it. */
    private static final int MAX_NAME_BYTES = 4 * 1024;

    private final ListStore store;
    private final ReentrantLock list = new ReentrantLock();
    /** Durable deletions, oldest first. Guarded by the monitor. */
    private final Set<DeletionRecord> pending = new LinkedHashSet<>();
    /**
     * The sequences of the records of unarchived deletions, in the order of the list. Contains a record before it is
     * written, because the store may report later records first. Guarded by the monitor.
     */
    private final Map<DeletionRecord, Long> sequences = new LinkedHashMap<>();
    /** Deletions, durable or not, that were written without a durable record. Guarded by the monitor. */
    private final Set<DeletionRecord> unrecorded = new LinkedHashSet<>();
    /** The number of unarchived deletions for each name, durable or not. Guarded by the monitor. */
    private final Map<DocumentName, Integer> names = new HashMap<>();
    /** The writes to acknowledge once their deletions are recorded or archived. Guarded by the monitor. */
    private final Queue<WaitingWrite> waiting = new ArrayDeque<>();
    /** Whether one attempt to record deletions follows another. Guarded by the monitor. */
    private boolean recording;
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
                sequences.put(deletion, sequence);
                pending.add(deletion);
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
            } else if (!hasSpace) {
                LOG.warn(
                        "the store has no space to record the deletion of {} documents: the reply waits until it has"
                                + " space or the deletion is archived",
                        deletions.size());
            }
            // Counts the deletions first, because a store may call back before the commit returns.
            synchronized (this) {
                deletions.forEach(this::accepted);
                if (withRecords) {
                    number(deletions);
                } else {
                    unrecorded.addAll(deletions);
                }
            }
            try {
                edit.commit(
                        new WriteCallback() {
                            @Override
                            public void success(long last) {
                                durable(deletions);
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

    /** Notes the sequences of records that are about to be written. Called with the list lock held. */
    private synchronized void number(List<DeletionRecord> deletions) {
        for (int i = 0; i < deletions.size(); i++) {
            sequences.put(deletions.get(i), nextSequence + i);
        }
    }

    private synchronized void durable(List<DeletionRecord> deletions) {
        pending.addAll(deletions);
    }

    private synchronized void forget(List<DeletionRecord> deletions) {
        for (DeletionRecord deletion : deletions) {
            unrecorded.remove(deletion);
            sequences.remove(deletion);
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

    private void await(WaitingWrite write) {
        synchronized (this) {
            waiting.add(write);
            if (recording) {
                return;
            }
            recording = true;
        }
        LATER.execute(this::tryRecording);
    }

    /** Tries to record the deletions of the waiting writes. Another attempt follows until no write waits. */
    private void tryRecording() {
        acknowledge();
        synchronized (this) {
            recording = !waiting.isEmpty();
            if (!recording) {
                return;
            }
        }
        try {
            if (record()) {
                return;
            }
        } catch (RuntimeException | Error problem) {
            // An exception would end the attempts.
            LOG.error("the deletion of documents could not be recorded; the server tries again", problem);
        }
        LATER.execute(this::tryRecording);
    }

    /** Acknowledges the waiting writes whose deletions are recorded or archived. */
    private void acknowledge() {
        List<WaitingWrite> done = new ArrayList<>();
        synchronized (this) {
            waiting.removeIf(write -> Collections.disjoint(write.deletions, unrecorded) && done.add(write));
        }
        done.forEach(write -> complete(write, null));
    }

    /** Records deletions of waiting writes; the next attempt follows. Returns false if this is not possible now. */
    private boolean record() {
        list.lock();
        try {
            if (!store.writable()) {
                return false;
            }
            List<DeletionRecord> deletions = numberUnrecorded();
            boolean accepted = false;
            try {
                if (deletions.isEmpty()) {
                    return false;
                }
                WriteBatch batch = WriteBatch.create();
                deletions.forEach(deletion -> batch.append(LIST_ID, deletion.encode()));
                accepted = store.tryWrite(batch, new WriteCallback() {
                    @Override
                    public void success(long last) {
                        recorded(deletions);
                        CompletableFuture.runAsync(DeletionJournal.this::tryRecording);
                    }

                    @Override
                    public void failure(CaravanException problem) {
                        fail(problem);
                    }
                });
                return accepted;
            } finally {
                if (accepted) {
                    wrote(deletions.size());
                } else {
                    unnumber(deletions);
                }
            }
        } catch (OutOfSpaceException full) {
            return false;
        } catch (CaravanException problem) {
            fail(problem);
            return true;
        } finally {
            list.unlock();
        }
    }

    /** Numbers and returns deletions of the waiting writes that have no record and are not archived. */
    private synchronized List<DeletionRecord> numberUnrecorded() {
        Set<DeletionRecord> found = new LinkedHashSet<>();
        int nameBytes = 0;
        Iterator<DeletionRecord> next =
                waiting.stream().flatMap(write -> write.deletions.stream()).iterator();
        while (next.hasNext() && nameBytes < MAX_NAME_BYTES) {
            DeletionRecord deletion = next.next();
            if (unrecorded.contains(deletion) && found.add(deletion)) {
                nameBytes += deletion.name().toBytes().length;
            }
        }
        List<DeletionRecord> deletions = List.copyOf(found);
        number(deletions);
        return deletions;
    }

    private synchronized void recorded(List<DeletionRecord> deletions) {
        deletions.forEach(unrecorded::remove);
    }

    private synchronized void unnumber(List<DeletionRecord> deletions) {
        deletions.forEach(sequences::remove);
    }

    /** Fails all waiting writes, because the store has failed or is closed. */
    private void fail(CaravanException problem) {
        List<WaitingWrite> failed;
        synchronized (this) {
            failed = List.copyOf(waiting);
            waiting.clear();
        }
        failed.forEach(write -> complete(write, problem));
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
        boolean trims;
        synchronized (this) {
            if (!pending.remove(deletion)) {
                return;
            }
            forget(List.of(deletion));
            keepFrom = sequences.isEmpty()
                    ? nextSequence
                    : sequences.values().iterator().next();
            trims = keepFrom > firstSequence;
            firstSequence = Math.max(firstSequence, keepFrom);
        }
        acknowledge();
        if (trims) {
            trim(keepFrom);
        }
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
