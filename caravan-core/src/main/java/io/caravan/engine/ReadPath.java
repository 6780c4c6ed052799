package io.caravan.engine;

import io.caravan.CorruptStoreException;
import io.caravan.EntryStream;
import io.caravan.ListInfo;
import io.caravan.TrimmedException;
import io.caravan.format.Region;
import io.caravan.heap.HeapFile;
import io.caravan.index.ListCursor;
import io.caravan.index.ListIndex;
import io.caravan.index.Pins.Pin;
import io.caravan.wal.LogSegments;
import java.nio.ByteBuffer;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.IntPredicate;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Performs reads of lists. A read records the state of the list and pins it from the first sequence to read, then waits
 * until the last write to the list is committed. It copies regions from the index, a bounded number each time the lock
 * is held and the regions of a short list together with the pin, and reads the values without the lock.
 *
 * <p>Pinned entries are not freed, so the reader sees the list as of the pin. If a value moves from the log to the heap
 * in the meantime, its region is looked up again.
 */
final class ReadPath {
    /** Number of regions copied each time the lock is held. */
    private static final int SLICE = 512;

    /** Largest number of entries whose regions are copied when their list is pinned, which saves taking the lock again. */
    private static final int FEW = 16;

    /** Number of value lengths to collect in the first slice, because most callers need only a few. */
    private static final int FIRST_LENGTHS = 8;

    /** The value of {@code fromSequence} that stands for the first retained sequence. */
    static final long FROM_FIRST = -1;

    private final StoreState state;
    private final CommitQueue queue;
    private final HeapSpace space;
    private final WritePath writes;
    private final HeapFile heapFile;
    private final LsnWatermark committed;

    ReadPath(StoreState state, CommitQueue queue, HeapSpace space, WritePath writes) {
        this.state = state;
        this.queue = queue;
        this.space = space;
        this.writes = writes;
        this.heapFile = state.heapFile;
        this.committed = state.committed;
    }

    /**
     * A pinned list.
     *
     * @param regions the regions of all entries from the pin on; empty if there are many of them, or none
     */
    private record Pinned(
            Pin pin,
            long id,
            long creationLsn,
            long first,
            long next,
            long lastLsn,
            long firstStored,
            long storedBytes,
            long[] regions) {}

    /**
     * Streams a list's entries from {@code fromSequence} on, or from the first retained entry for {@link #FROM_FIRST},
     * up to but not including {@code beforeSequence}.
     */
    void get(long id, long fromSequence, long beforeSequence, boolean newestFirst, EntryStream stream) {
        StoreState.checkMayWait("a read");
        Boolean all = whilePinned(pin(id, fromSequence), pinned -> {
            committed.awaitPassed(pinned.lastLsn());
            long from = fromSequence == FROM_FIRST ? pinned.first() : fromSequence;
            if (from < pinned.first()) {
                throw new TrimmedException(id, from, pinned.first());
            }
            return stream(pinned, from, Math.min(beforeSequence, pinned.next()), newestFirst, stream);
        });
        if (all == null || all) {
            stream.finished();
        }
    }

    /** Streams the entries in this range. Returns whether the stream accepted all of them. */
    private boolean stream(Pinned pinned, long from, long until, boolean newestFirst, EntryStream stream) {
        ListCursor cursor = new ListCursor();
        // All entries to read lie before this position. It must not advance while the stream is slow.
        long near = committed.position();
        long[] regions = new long[(int) Math.max(0, Math.min(SLICE, until - from))];
        int count;
        for (long done = 0; done < until - from; done += count) {
            count = (int) Math.min(regions.length, until - from - done);
            long start = newestFirst ? until - done - count : from + done;
            copyRegions(pinned, start, cursor, regions, count);
            for (int i = 0; i < count; i++) {
                int at = newestFirst ? count - 1 - i : i;
                if (i % LogSegments.LOADED_TOGETHER == 0) {
                    int loaded = Math.min(LogSegments.LOADED_TOGETHER, count - i);
                    state.log.load(regions, newestFirst ? at + 1 - loaded : at, loaded, near);
                }
                if (!stream.next(start + at, read(pinned, near, regions[at], start + at))) {
                    return false;
                }
            }
        }
        return true;
    }

    /** Returns the value of a pinned entry; {@code near} is a position near the entry (see {@link Region#entryLsn}). */
    private ByteBuffer read(Pinned pinned, long near, long region, long sequence) {
        try {
            ByteBuffer value = value(pinned, near, region, sequence);
            if (value == null) {
                long[] moved = new long[1];
                state.copyRegions(pinned.pin().list(), sequence, new ListCursor(), moved, 1);
                value = value(pinned, near, moved[0], sequence);
            }
            if (value == null) {
                // A region in a log segment that is no longer open means that the store has been closed.
                state.checkOpen();
            }
            return Objects.requireNonNull(value);
        } catch (CorruptStoreException damaged) {
            // A close does not wait indefinitely for a slow reader, and the store may then be reopened and reuse the
            // place.
            state.checkOpen();
            throw damaged;
        }
    }

    /** Returns the value of a pinned entry, or null if the entry was in the log and has moved to the heap. */
    private @Nullable ByteBuffer value(Pinned pinned, long near, long region, long sequence) {
        return Region.isInLog(region)
                ? state.log.read(region, near, pinned.id(), pinned.creationLsn(), sequence)
                : heapFile.read(region, pinned.id(), pinned.creationLsn(), sequence);
    }

    private void copyRegions(Pinned pinned, long from, ListCursor cursor, long[] regions, int count) {
        if (pinned.regions().length > 0) {
            System.arraycopy(pinned.regions(), (int) (from - pinned.pin().from()), regions, 0, count);
            return;
        }
        state.checkOpen();
        state.copyRegions(pinned.pin().list(), from, cursor, regions, count);
    }

    @Nullable
    ListInfo info(long id) {
        StoreState.checkMayWait("a read");
        return whilePinned(pin(id, FROM_FIRST), pinned -> {
            committed.awaitPassed(pinned.lastLsn());
            return described(pinned);
        });
    }

    /** Applies the function to a pinned list, if there is one, and unpins the list. */
    private <T> @Nullable T whilePinned(@Nullable Pinned pinned, Function<Pinned, T> function) {
        if (pinned == null) {
            return null;
        }
        try {
            return function.apply(pinned);
        } finally {
            unpin(pinned);
        }
    }

    private ListInfo described(Pinned pinned) {
        boolean fewRetained = pinned.next() - pinned.first() < pinned.first() - pinned.firstStored();
        long bytes = fewRetained ? retainedBytes(pinned) : pinned.storedBytes() - trimmedBytes(pinned);
        return new ListInfo(pinned.id(), pinned.first(), pinned.next(), bytes);
    }

    private long retainedBytes(Pinned pinned) {
        long[] bytes = new long[1];
        forEachLength(pinned, length -> {
            bytes[0] += length;
            return true;
        });
        return bytes[0];
    }

    /** Returns the accepted state of the list; see {@link io.caravan.ListStore#accepted}. */
    @Nullable
    ListInfo accepted(long id) {
        return whilePinned(pinAccepted(id), this::described);
    }

    /** Visits the lengths of a list's values; see {@link io.caravan.ListStore#acceptedLengths}. */
    void acceptedLengths(long id, IntPredicate more) {
        whilePinned(pinAccepted(id), pinned -> forEachLength(pinned, more));
    }

    /** Visits the lengths of a list's retained values. Returns whether all of them were visited. */
    private boolean forEachLength(Pinned pinned, IntPredicate more) {
        ListCursor cursor = new ListCursor();
        int slice = FIRST_LENGTHS;
        for (long sequence = pinned.first(); sequence < pinned.next(); slice = SLICE) {
            long[] regions = new long[(int) Math.min(slice, pinned.next() - sequence)];
            copyRegions(pinned, sequence, cursor, regions, regions.length);
            for (long region : regions) {
                if (!more.test(Region.length(region))) {
                    return false;
                }
            }
            sequence += regions.length;
        }
        return true;
    }

    private @Nullable Pinned pinAccepted(long id) {
        return state.locked(() -> {
            state.checkOpen();
            int list = state.index.find(id);
            return list == ListIndex.NONE ? null : pinned(list, FROM_FIRST);
        });
    }

    /**
     * Returns the total size of the entries that had been trimmed but not freed when the list was pinned. This method
     * counts them so that a trim need not. These entries are not pinned and may be freed in the meantime; the pin
     * counts the freed bytes.
     */
    private long trimmedBytes(Pinned pinned) {
        long bytes = 0;
        ListCursor cursor = new ListCursor();
        long[] regions = new long[(int) Math.min(SLICE, pinned.first() - pinned.firstStored())];
        long sequence = pinned.firstStored();
        while (sequence < pinned.first()) {
            int count;
            state.lock.lock();
            try {
                state.checkOpen();
                int list = pinned.pin().list();
                long firstStored = state.index.firstStored(list);
                if (firstStored >= sequence) {
                    sequence = firstStored;
                    bytes = pinned.pin().freedBytes();
                    state.index.seek(list, sequence, cursor);
                }
                count = (int) Math.min(regions.length, pinned.first() - sequence);
                state.index.copyRegions(cursor, regions, 0, count);
            } finally {
                state.lock.unlock();
            }
            sequence += count;
            for (int i = 0; i < count; i++) {
                bytes += Region.length(regions[i]);
            }
        }
        return bytes;
    }

    private @Nullable Pinned pin(long id, long fromSequence) {
        long removalLsn;
        state.lock.lockForRead();
        try {
            state.checkOpen();
            ListIndex index = state.index;
            int list = index.find(id);
            if (list != ListIndex.NONE) {
                queue.requireFlushOf(index.lastLsn(list));
                return pinned(list, fromSequence);
            }
            removalLsn = writes.lastRemovalLsn();
            queue.requireFlushOf(removalLsn);
        } finally {
            state.lock.unlock();
        }
        // The list may be missing because of a deletion that a crash could still undo.
        committed.awaitPassed(removalLsn);
        return null;
    }

    /** Pins the list from this sequence on, and records the state of the list. Called under the lock. */
    private Pinned pinned(int list, long fromSequence) {
        ListIndex index = state.index;
        // A pin after the end would be no pin if its sequence were that of Pins.NONE.
        Pin pin = index.pin(list, Math.max(index.first(list), Math.min(fromSequence, index.next(list))));
        heapFile.retain();
        state.counters.pinnedReaders++;
        return new Pinned(
                pin,
                index.id(list),
                index.creationLsn(list),
                index.first(list),
                index.next(list),
                index.lastLsn(list),
                index.firstStored(list),
                index.storedBytes(list),
                fewRegions(list, pin.from()));
    }

    private long[] fewRegions(int list, long from) {
        long count = state.index.next(list) - from;
        ListCursor cursor = new ListCursor();
        if (count > FEW || !state.index.seek(list, from, cursor, 1)) {
            return new long[0];
        }
        long[] regions = new long[(int) count];
        state.index.copyRegions(cursor, regions, 0, regions.length);
        return regions;
    }

    private void unpin(Pinned pinned) {
        heapFile.release();
        state.lock.lockForRead();
        try {
            space.unpin(pinned.pin());
            if (--state.counters.pinnedReaders == 0) {
                state.lastReaderLeft();
            }
        } finally {
            state.lock.unlock();
        }
    }

    /**
     * Waits until all writes accepted before the call are committed, and then visits the lists whose creation is
     * committed. Collects ids step by step under the lock, and passes them on without the lock.
     */
    void forEachList(LongConsumer ids) {
        StoreState.checkMayWait("a read");
        committed.await(acceptedUpTo());
        long[] found = new long[ListIndex.MAX_STEP_LISTS];
        int[] count = new int[1];
        long position = 0;
        do {
            long from = position;
            count[0] = 0;
            position = state.slice(() -> {
                state.checkOpen();
                return state.index.visit(from, list -> {
                    if (committed.hasPassed(state.index.creationLsn(list))) {
                        found[count[0]++] = state.index.id(list);
                    }
                });
            });
            for (int i = 0; i < count[0]; i++) {
                ids.accept(found[i]);
            }
        } while (position != 0);
        // A list may be missing because of a deletion that a crash could still undo.
        committed.awaitPassed(lastRemovalLsn());
    }

    private long lastRemovalLsn() {
        return state.locked(() -> {
            queue.requireFlushOf(writes.lastRemovalLsn());
            return writes.lastRemovalLsn();
        });
    }

    private long acceptedUpTo() {
        return state.locked(() -> {
            state.checkOpen();
            queue.requireFlushOf(queue.nextLsn() - 1);
            return queue.nextLsn();
        });
    }
}
