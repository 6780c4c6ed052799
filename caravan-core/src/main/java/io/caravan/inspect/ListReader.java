package io.caravan.inspect;

import io.caravan.CorruptStoreException;
import io.caravan.checkpoint.CheckpointReader;
import io.caravan.format.FileNames;
import io.caravan.index.ListIndex;
import io.caravan.io.Storage;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedSet;
import org.jspecify.annotations.Nullable;

/**
 * Reads one list of a store that may be open or damaged. It takes the list from the newest checkpoint in which the
 * list's partition is intact, and applies the later log. If another checkpoint has been published in the meantime, and
 * the required part of the log no longer exists, or a value may have moved, it searches for the list again.
 */
final class ListReader {
    private final DamagedFiles files;
    private final Storage storage;
    private final long id;
    private final StoreVisitor visitor;
    /** The number of the checkpoint that was the newest when the list was found, or -1. */
    private long newest;
    /** A log position near all entries in the log; see {@link DamagedFiles#place}. */
    private long nearLsn;

    ListReader(DamagedFiles files, long id, StoreVisitor visitor) {
        this.files = files;
        this.storage = files.storage;
        this.id = id;
        this.visitor = visitor;
    }

    /** Visits the list and its values; see {@link ContentsReader#readList}. */
    boolean read() throws IOException {
        SalvagedList list = find();
        if (list == null) {
            return false;
        }
        visitor.list(id, list.first(), list.next(), list.count(), list.bytes());
        long end = list.next();
        long creationLsn = list.creationLsn();
        long from = list.first();
        int attempts = 0;
        while (from < end && list != null && list.creationLsn() == creationLsn) {
            long read = readValues(list, from, end);
            attempts = read > from ? 0 : attempts + 1;
            if (attempts == ContentsReader.ATTEMPTS) {
                throw ContentsReader.tooFast(storage);
            }
            from = read;
            if (from < end) {
                visitor.moved(id, from);
                list = find();
            }
        }
        return true;
    }

    /**
     * Reads the values from {@code from} to {@code end}. Returns the sequence of the first value that was not read
     * because it may have moved, or {@code end}.
     */
    private long readValues(SalvagedList list, long from, long end) throws IOException {
        try (files) {
            long expected = list.first();
            for (SalvagedList.Run run : list.runs()) {
                reportGap(Math.max(from, expected), Math.min(end, run.first()));
                expected = run.end();
                for (long sequence = Math.max(from, run.first()); sequence < Math.min(end, run.end()); sequence++) {
                    if (!readValue(list.creationLsn(), sequence, run.region(sequence))) {
                        return sequence;
                    }
                }
            }
            reportGap(Math.max(from, expected), Math.min(end, list.next()));
            return end;
        }
    }

    private void reportGap(long first, long end) {
        if (first < end) {
            visitor.damaged(new CorruptStoreException(
                    storage.describe(newest < 0 ? "" : FileNames.CHECKPOINT.of(newest)),
                    0,
                    id,
                    first,
                    "the values up to sequence " + (end - 1) + " are missing, because sections or frames are damaged"));
        }
    }

    /** Visits a value, or reports that it is damaged. Returns false if it may have moved. */
    private boolean readValue(long creationLsn, long sequence, long region) throws IOException {
        ByteBuffer value = files.value(region, id, creationLsn, sequence, nearLsn);
        ValueLocation place = files.place(region, nearLsn);
        if (value != null) {
            visitor.value(id, sequence, place, value);
        } else if (outdated()) {
            return false;
        } else {
            visitor.damaged(new CorruptStoreException(
                    storage.describe(place.file()),
                    place.offset(),
                    id,
                    sequence,
                    "its bytes are missing, or differ from those that were written"));
        }
        return true;
    }

    /**
     * Whether another checkpoint has been published since the list was found. Only then may values have moved, or their
     * places have been reused.
     */
    private boolean outdated() throws IOException {
        SortedSet<Long> numbers = FileNames.CHECKPOINT.numbers(storage.list());
        return !numbers.isEmpty() && numbers.last() != newest;
    }

    /**
     * Returns the list in its current state, or null if it does not exist. Reports damage that may have destroyed a
     * part of the list.
     */
    private @Nullable SalvagedList find() throws IOException {
        for (int attempt = 0; attempt < ContentsReader.ATTEMPTS; attempt++) {
            try {
                Found found = new Found();
                long start = found.takePartition();
                try (LogReader log = new LogReader(files, start)) {
                    boolean more = true;
                    while (more) {
                        more = log.next(found);
                    }
                    nearLsn = Math.max(nearLsn, log.position());
                }
                if (found.whole || !outdated()) {
                    found.damage.forEach(visitor::damaged);
                    return found.partitions[ListIndex.partitionOf(id)].lists().get(id);
                }
            } catch (NoSuchFileException replaced) {
                // A newer checkpoint has replaced the file.
            }
        }
        throw ContentsReader.tooFast(storage);
    }

    /** The list as found in a checkpoint and the later log, and the damage that may have destroyed a part of it. */
    private final class Found extends SalvagedIndex implements StoreVisitor {
        private final List<CorruptStoreException> damage = new ArrayList<>();
        private String segment = "";
        /** Whether all parts of the log that the search needs still exist. */
        private boolean whole = true;

        Found() {
            // Losses are ignored: values that were trimmed or deleted before the start of the remaining log are not
            // lost, and damage is reported separately.
            super(list -> list == id, loss -> {});
        }

        /** Adds the list's partition from a checkpoint. Returns the LSN at which replay starts. */
        long takePartition() throws IOException {
            SortedSet<Long> numbers =
                    FileNames.CHECKPOINT.numbers(storage.list()).descendingSet();
            newest = numbers.isEmpty() ? -1 : numbers.first();
            int number = ListIndex.partitionOf(id);
            long start = 0;
            boolean taken = false;
            for (long checkpoint : numbers) {
                try (CheckpointReader reader = new CheckpointReader(storage, checkpoint)) {
                    DamagedCheckpoint found = new DamagedCheckpoint(reader, list -> list == id);
                    Partition partition = found.partition(number);
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
                            Math.max(0, found.firstDamage()),
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
    }
}
