package io.caravan.inspect;

import io.caravan.CorruptStoreException;
import io.caravan.StoreIoException;
import io.caravan.checkpoint.CheckpointReader;
import io.caravan.format.FileNames;
import io.caravan.index.ListIndex;
import io.caravan.io.Storage;
import io.caravan.io.StoreFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedSet;
import org.jspecify.annotations.Nullable;

/**
 * Finds one list in a store that may be open or damaged. It takes the list from the newest checkpoint in which the
 * list's partition is intact, and applies the later log. If another checkpoint has been published in the meantime, and
 * the required part of the log no longer exists, it searches again.
 */
final class ListSearch {
    /** Number of attempts to read a store that is changing; each attempt starts from the newest checkpoint. */
    static final int ATTEMPTS = 8;

    private final Storage storage;
    private final long id;
    private final ContentsVisitor visitor;
    private long newest;
    private long nearLsn;

    ListSearch(Storage storage, long id, ContentsVisitor visitor) {
        this.storage = storage;
        this.id = id;
        this.visitor = visitor;
    }

    /** Returns the number of the newest checkpoint, or -1. */
    static long newestCheckpoint(Storage storage) throws IOException {
        SortedSet<Long> numbers = FileNames.CHECKPOINT.numbers(storage.list());
        return numbers.isEmpty() ? -1 : numbers.last();
    }

    static StoreIoException tooFast(Storage storage) {
        String message =
                storage.describe("") + " changes faster than it can be read; try again, or read a backup of it";
        return new StoreIoException(message, new IOException(message));
    }

    /** Returns the file name of the checkpoint that was the newest when the list was found. */
    String checkpoint() {
        return newest < 0 ? "" : FileNames.CHECKPOINT.of(newest);
    }

    /** Returns a log position near all entries in the log; see {@link ValueLocations#of}. */
    long nearLsn() {
        return nearLsn;
    }

    /**
     * Whether another checkpoint has been published since the list was found. Only then may values have moved, or their
     * places have been reused.
     */
    boolean outdated() throws IOException {
        long found = newestCheckpoint(storage);
        return found >= 0 && found != newest;
    }

    /**
     * Returns the list in its current state, or null if it does not exist. Reports damage that may have destroyed a
     * part of the list.
     */
    @Nullable
    SalvagedList find() throws IOException {
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            List<CorruptStoreException> damage = new ArrayList<>();
            try {
                // Losses are ignored: values that were trimmed or deleted before the start of the remaining log are not
                // lost, and damage is reported separately.
                SalvagedIndex index = new SalvagedIndex(loss -> {});
                long start = takePartition(index, damage);
                boolean whole = replay(index, start, damage);
                if (whole || !outdated()) {
                    damage.forEach(visitor::damaged);
                    return index.partition(ListIndex.partitionOf(id)).get(id);
                }
            } catch (NoSuchFileException replaced) {
                // A newer checkpoint has replaced the file.
            }
        }
        throw tooFast(storage);
    }

    /** Adds the list's partition from a checkpoint to the index. Returns the LSN at which replay starts. */
    private long takePartition(SalvagedIndex index, List<CorruptStoreException> damage) throws IOException {
        SortedSet<Long> numbers = FileNames.CHECKPOINT.numbers(storage.list()).descendingSet();
        newest = numbers.isEmpty() ? -1 : numbers.first();
        int partition = ListIndex.partitionOf(id);
        long start = 0;
        boolean taken = false;
        for (long number : numbers) {
            try (StoreFile file = storage.open(FileNames.CHECKPOINT.of(number))) {
                DamagedCheckpoint found = DamagedCheckpoint.read(file, number, list -> list == id);
                boolean whole = found.isWhole(partition);
                if (whole || !taken && found.has(partition)) {
                    index.take(partition, found.captureLsn(partition), found.lists(partition));
                    nearLsn = found.captureLsn(partition);
                    start = startLsn(number, damage);
                    taken = true;
                }
                if (whole) {
                    return start;
                }
                damage.add(new CorruptStoreException(
                        file.path(),
                        Math.max(0, found.firstDamage()),
                        "a section is damaged, perhaps that of list " + id));
            }
        }
        return start;
    }

    private long startLsn(long number, List<CorruptStoreException> damage) throws IOException {
        try (CheckpointReader reader = new CheckpointReader(storage, number)) {
            return reader.header().startLsn();
        } catch (CorruptStoreException damaged) {
            damage.add(damaged);
            return 0;
        }
    }

    /** Replays the log into the index. Returns false if a part of the log no longer exists. */
    private boolean replay(SalvagedIndex index, long start, List<CorruptStoreException> damage) throws IOException {
        Replay replay = new Replay(index, damage);
        try (LogReader log = LogReader.open(storage, start)) {
            boolean more = true;
            while (more) {
                more = log.next(replay);
            }
            nearLsn = Math.max(nearLsn, log.position());
        }
        return replay.whole;
    }

    /** Applies those records of the log that concern the list. */
    private final class Replay implements LogVisitor {
        private final SalvagedIndex index;
        private final List<CorruptStoreException> damage;
        private String file = "";
        private boolean whole = true;

        Replay(SalvagedIndex index, List<CorruptStoreException> damage) {
            this.index = index;
            this.damage = damage;
        }

        @Override
        public void segment(long number, String path) {
            file = path;
        }

        @Override
        public void append(long lsn, long list, long sequence, long entryLsn, ByteBuffer value) {
            if (list == id) {
                index.append(lsn, list, sequence, entryLsn, value, 0, value.remaining());
            }
        }

        @Override
        public void trim(long lsn, long list, long firstSequence) {
            if (list == id) {
                index.trim(lsn, list, firstSequence);
            }
        }

        @Override
        public void delete(long lsn, long list) {
            if (list == id) {
                index.delete(lsn, list);
            }
        }

        @Override
        public void missed(long from, long to) {
            whole = false;
            damage.add(new CorruptStoreException(
                    file, 0, "LSN " + from + " to " + to + " of the log are needed, and not there"));
        }

        @Override
        public void damaged(CorruptStoreException problem) {
            damage.add(problem);
        }
    }
}
