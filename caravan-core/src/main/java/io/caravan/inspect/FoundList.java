package io.caravan.inspect;

import io.caravan.CorruptStoreException;
import io.caravan.checkpoint.CheckpointReader;
import io.caravan.format.FileNames;
import io.caravan.index.ListIndex;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedSet;
import org.jspecify.annotations.Nullable;

/**
 * One list of a store that may be open or damaged, in its state at the time of the search. The search takes the list
 * from the newest checkpoint in which the list's partition is intact, and applies the later log.
 */
final class FoundList extends SalvagedIndex implements StoreVisitor {
    private final DamagedFiles files;
    private final long id;
    /** The number of the checkpoint that was the newest when the list was found, or -1. */
    private final long newest;
    /** Damage that may have destroyed a part of the list. */
    private final List<CorruptStoreException> damage = new ArrayList<>();
    /** A log position near all entries in the log; see {@link DamagedFiles#place}. */
    private long nearLsn;

    private String segment = "";
    /** Whether all parts of the log that the search needs still exist. */
    private boolean whole = true;

    /**
     * Searches for a list, and reports damage that may have destroyed a part of it. Searches again if another
     * checkpoint has been published in the meantime, and the required part of the log no longer exists.
     */
    static FoundList find(DamagedFiles files, long id, StoreVisitor visitor) throws IOException {
        for (int attempt = 0; attempt < ContentsReader.ATTEMPTS; attempt++) {
            try {
                FoundList found = new FoundList(files, id);
                if (found.whole || !found.outdated()) {
                    found.damage.forEach(visitor::damaged);
                    return found;
                }
            } catch (NoSuchFileException replaced) {
                // A newer checkpoint has replaced the file.
            }
        }
        throw ContentsReader.tooFast(files.storage);
    }

    private FoundList(DamagedFiles files, long id) throws IOException {
        // Losses are ignored: values that were trimmed or deleted before the start of the remaining log are not lost,
        // and damage is reported separately.
        super(list -> list == id, loss -> {});
        this.files = files;
        this.id = id;
        SortedSet<Long> checkpoints = checkpoints();
        this.newest = checkpoints.isEmpty() ? -1 : checkpoints.first();
        try (LogReader log = new LogReader(files, takePartition(checkpoints))) {
            boolean more = true;
            while (more) {
                more = log.next(this);
            }
            nearLsn = Math.max(nearLsn, log.position());
        }
    }

    /** Returns the numbers of the store's checkpoints, newest first. */
    private SortedSet<Long> checkpoints() throws IOException {
        return FileNames.CHECKPOINT.numbers(files.storage.list()).descendingSet();
    }

    /** Adds the list's partition from a checkpoint. Returns the LSN at which replay starts. */
    private long takePartition(SortedSet<Long> checkpoints) throws IOException {
        int number = ListIndex.partitionOf(id);
        long start = 0;
        boolean taken = false;
        for (long checkpoint : checkpoints) {
            try (CheckpointReader reader = new CheckpointReader(files.storage, checkpoint)) {
                DamagedCheckpoint found = new DamagedCheckpoint(reader, list -> list == id);
                Partition partition = found.partitions[number];
                boolean isWhole = found.isWhole(number);
                if (partition != null && (isWhole || !taken)) {
                    partitions[number] = partition;
                    nearLsn = partition.captureLsn();
                    start = startLsn(reader);
                    taken = true;
                }
                if (isWhole) {
                    return start;
                }
                damaged(new CorruptStoreException(
                        reader.path(),
                        Math.max(0, found.firstDamage),
                        "a section is damaged, perhaps that of list " + id));
            }
        }
        return start;
    }

    private long startLsn(CheckpointReader reader) {
        try {
            return reader.header().startLsn();
        } catch (CorruptStoreException damagedHeader) {
            damaged(damagedHeader);
            return 0;
        }
    }

    @Override
    public void segment(long number, String path) {
        segment = path;
    }

    @Override
    public void missed(long from, long to) {
        whole = false;
        damaged(new CorruptStoreException(
                segment, 0, "LSN " + from + " to " + to + " of the log are needed, and not there"));
    }

    @Override
    public void damaged(CorruptStoreException problem) {
        damage.add(problem);
    }

    /** Returns the list, or null if it does not exist. */
    @Nullable
    SalvagedList list() {
        return partitions[ListIndex.partitionOf(id)].lists().get(id);
    }

    /**
     * Visits the values of the list from {@code from} to {@code end}. Returns the sequence of the first value that was
     * not read because it may have moved, or {@code end}.
     */
    long readValues(SalvagedList list, long from, long end, StoreVisitor visitor) throws IOException {
        try (files) {
            long expected = list.first();
            for (SalvagedList.Run run : list.runs) {
                reportGap(Math.max(from, expected), Math.min(end, run.first()), visitor);
                expected = run.end();
                for (long sequence = Math.max(from, run.first()); sequence < Math.min(end, run.end()); sequence++) {
                    if (!readValue(list.creationLsn, sequence, run.region(sequence), visitor)) {
                        return sequence;
                    }
                }
            }
            reportGap(Math.max(from, expected), Math.min(end, list.next()), visitor);
            return end;
        }
    }

    private void reportGap(long first, long end, StoreVisitor visitor) {
        if (first < end) {
            visitor.damaged(new CorruptStoreException(
                    files.storage.describe(newest < 0 ? "" : FileNames.CHECKPOINT.of(newest)),
                    0,
                    id,
                    first,
                    "the values up to sequence " + (end - 1) + " are missing, because sections or frames are damaged"));
        }
    }

    /** Visits a value, or reports that it is damaged. Returns false if it may have moved. */
    private boolean readValue(long creationLsn, long sequence, long region, StoreVisitor visitor) throws IOException {
        ValueLocation place = files.place(region, nearLsn);
        ByteBuffer value = files.value(place, id, creationLsn, sequence);
        if (value != null) {
            visitor.value(id, sequence, place, value);
        } else if (outdated()) {
            return false;
        } else {
            visitor.damaged(new CorruptStoreException(
                    files.storage.describe(place.file()),
                    place.offset(),
                    id,
                    sequence,
                    "its bytes are missing, or differ from those that were written"));
        }
        return true;
    }

    /**
     * Whether another checkpoint has been published since the search. Only then may values have moved, or their places
     * have been reused.
     */
    private boolean outdated() throws IOException {
        SortedSet<Long> checkpoints = checkpoints();
        return !checkpoints.isEmpty() && checkpoints.first() != newest;
    }
}
