package io.caravan.inspect;

import io.caravan.SalvageReport;
import io.caravan.SalvageReport.Loss;
import io.caravan.StoreDirectoryException;
import io.caravan.engine.NewStore;
import io.caravan.format.FileNames;
import io.caravan.format.FrameLayout;
import io.caravan.format.InvalidRecordException;
import io.caravan.format.RecordLayout;
import io.caravan.index.ListIndex;
import io.caravan.io.FileStorage;
import io.caravan.io.NewDirectory;
import io.caravan.io.Storage;
import io.caravan.io.StoreFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import org.jspecify.annotations.Nullable;

/**
 * Copies all intact data from a damaged store to a new store, without writing to the damaged store.
 *
 * <p>To rebuild the index, it takes each partition from the newest checkpoint in which the partition is intact, and
 * replays every valid frame of the log. Then it copies each entry whose checksum is correct.
 *
 * <p>It renumbers the values before a gap, and reports this; see {@link io.caravan.DurableListStore#salvage}.
 */
public final class Salvager {
    private final Storage from;
    private final SalvageReport.Listener listener;
    private final SalvageIdentity identity;
    private final SalvagedIndex index;
    private final DamagedLog log;
    private long endLsn;
    private long lists;
    private long entries;
    private long bytes;
    private long lostEntries;
    private long losses;
    private final DamagedValues values;
    /** The LSN such that the checkpoints reflect all records with lower LSNs. It may lie inside a frame. */
    private long captureLsn = Long.MAX_VALUE;
    /** The position of the first frame that the log must have after the checkpoints. */
    private long startLsn;

    private @Nullable Loss pending;
    private String pendingFile = "";

    private Salvager(Storage from, SalvageReport.Listener listener) throws IOException {
        this.from = from;
        this.listener = listener;
        this.identity = SalvageIdentity.of(from);
        this.index = new SalvagedIndex(this::lost);
        this.log = new DamagedLog(from, identity, this::lost);
        this.values = new DamagedValues(from, (region, nearLsn) -> identity.place(region, nearLsn, log::fileOf));
    }

    /** Salvages the closed store in a directory to a new directory. Holds the store's lock during the salvage. */
    public static SalvageReport salvage(Path directory, Path target, SalvageReport.Listener listener)
            throws IOException {
        if (target.toAbsolutePath()
                .normalize()
                .startsWith(directory.toAbsolutePath().normalize())) {
            throw new StoreDirectoryException(
                    target + " is inside the damaged store's directory; name another directory");
        }
        try (Storage from = FileStorage.openToRead(directory);
                NewDirectory created = NewDirectory.begin(target, FileNames::isOurs)) {
            SalvageReport report = salvage(from, created.storage(), listener);
            created.publish();
            return report;
        }
    }

    /** Salvages the store in {@code from} to {@code to}, which is empty. */
    public static SalvageReport salvage(Storage from, Storage to, SalvageReport.Listener listener) throws IOException {
        Salvager salvager = new Salvager(from, listener);
        try (NewStore store = new NewStore(
                to, NewStore.newStoreId(), salvager.identity.logSegmentBytes(), salvager.identity.heapSegmentBytes())) {
            salvager.readCheckpoints();
            salvager.replayLog();
            salvager.copyLists(store);
            store.publish();
            return salvager.report();
        } finally {
            salvager.values.close();
        }
    }

    private SalvageReport report() {
        return new SalvageReport(lists, entries, bytes, lostEntries, losses);
    }

    private void lost(Loss loss) {
        losses++;
        listener.lost(loss);
    }

    private void readCheckpoints() throws IOException {
        SortedSet<Long> numbers = FileNames.CHECKPOINT.numbers(from.list()).descendingSet();
        List<DamagedCheckpoint> checkpoints = new ArrayList<>();
        for (long number : numbers) {
            listener.at("checkpoints", checkpoints.size(), numbers.size());
            try (StoreFile file = from.open(FileNames.CHECKPOINT.of(number))) {
                DamagedCheckpoint found =
                        DamagedCheckpoint.read(new SalvageFile(file, this::lost), number, any -> true);
                checkpoints.add(found);
                if (found.firstDamage() >= 0) {
                    lost(Loss.of(file.path() + " at offset " + found.firstDamage() + ": a section is damaged"));
                } else {
                    break;
                }
            }
        }
        for (int partition = 0; partition < ListIndex.PARTITIONS; partition++) {
            takeBest(partition, checkpoints);
        }
    }

    private void takeBest(int partition, List<DamagedCheckpoint> checkpoints) {
        DamagedCheckpoint best = null;
        for (DamagedCheckpoint checkpoint : checkpoints) {
            boolean better = best == null || !best.isWhole(partition) && checkpoint.isWhole(partition);
            best = checkpoint.has(partition) && better ? checkpoint : best;
        }
        long captured = best == null ? 0 : best.captureLsn(partition);
        if (captured < captureLsn) {
            captureLsn = captured;
            startLsn = best == null ? 0 : best.startLsn();
        }
        if (best == null) {
            lost(Loss.of("no checkpoint has partition " + partition + " of the index: what was in it and not in the log"
                    + " is lost"));
        } else {
            index.take(partition, best.captureLsn(partition), best.lists(partition));
            endLsn = Math.max(endLsn, best.captureLsn(partition));
        }
    }

    private void replayLog() throws IOException {
        log.problems().forEach(problem -> lost(Loss.of(problem)));
        int done = 0;
        for (DamagedLog.Segment segment : log.segments()) {
            listener.at("log", done++, log.segments().size());
            log.visit(segment, new Replay());
        }
        long end = Math.max(log.end(), startLsn);
        if (end < endLsn) {
            lost(Loss.of("the log ends at LSN " + end + ", before LSN " + endLsn
                    + ", to which a checkpoint has its records: later appends, trims and deletions are missing"));
        }
        endLsn = Math.max(endLsn, log.lastFound());
    }

    private final class Replay implements DamagedLog.FrameVisitor {
        @Override
        public void frame(ByteBuffer frames, int at, long lsn, long previousFound) {
            long before = frames.getLong(at + FrameLayout.PREVIOUS_LSN);
            if (before != previousFound && before >= startLsn && lsn > captureLsn) {
                lost(Loss.of("the log lacks frames before LSN " + lsn + ", the last of them at LSN " + before
                        + (previousFound < 0 ? "" : "; the one before that is at LSN " + previousFound)
                        + ": appends, trims and deletions may be missing"));
            }
            try {
                RecordLayout.forEachInFrame(frames, at, lsn, index);
            } catch (InvalidRecordException invalid) {
                lost(Loss.of("the frame at LSN " + lsn + ": " + invalid.getMessage() + "; what follows in it is lost"));
            }
        }

        @Override
        public void damaged(DamagedLog.Segment segment, int at, long lsn, long end) {
            if (lsn >= captureLsn || lsn >= startLsn && end > captureLsn) {
                lost(Loss.of(from.describe(segment.name()) + " at offset " + at + ": the frame at LSN " + lsn
                        + " does not check: it is damaged, or a crash cut it off before it was acknowledged"));
            }
        }
    }

    private void copyLists(NewStore store) throws IOException {
        long total = index.listCount();
        for (int partition = 0; partition < ListIndex.PARTITIONS; partition++) {
            store.startPartition(partition);
            for (Map.Entry<Long, SalvagedList> list : index.partition(partition).entrySet()) {
                copyList(store, list.getKey(), list.getValue());
                lists++;
                listener.at("lists", lists, total);
            }
            store.endPartition();
        }
    }

    /**
     * Copies a list to the new store, starting with the newest value, so that the number of missing values after each
     * value is known.
     */
    private void copyList(NewStore store, long id, SalvagedList list) throws IOException {
        long[] sequences = new long[list.count()];
        long[] regions = new long[list.count()];
        gather(id, list, sequences, regions);
        long[] places = new long[list.count()];
        int from = places.length;
        long moved = 0;
        for (int i = regions.length - 1; i >= 0; i--) {
            ByteBuffer value = values.read(regions[i], id, list.creationLsn(), sequences[i], endLsn);
            if (value == null) {
                lostEntry(id, sequences[i]);
                continue;
            }
            from--;
            long sequence = list.next() - (places.length - from);
            moved += sequence == sequences[i] ? 0 : 1;
            places[from] = store.write(id, sequence, value);
            bytes += value.remaining();
        }
        reportLostEntries();
        if (moved > 0) {
            lost(Loss.of("document " + id + ": its oldest " + moved + " values have moved up, to the sequences from "
                    + (list.next() - (places.length - from)) + " on, because later values are missing"));
        }
        int count = places.length - from;
        entries += count;
        store.list(id, list.next(), Arrays.copyOfRange(places, from, places.length), count);
    }

    private void gather(long id, SalvagedList list, long[] sequences, long[] regions) {
        list.forEach(new SalvagedList.EntryVisitor<RuntimeException>() {
            private int at;

            @Override
            public void entry(long sequence, long region) {
                sequences[at] = sequence;
                regions[at++] = region;
            }

            @Override
            public void gap(long first, long last) {
                lostEntries += last - first + 1;
                lost(new Loss(id, first, last, "the frames or sections that had them are damaged"));
            }
        });
    }

    /** Records a lost entry. Consecutive lost entries of one file are reported together. */
    private void lostEntry(long id, long sequence) {
        lostEntries++;
        Loss before = pending;
        boolean follows = before != null && before.first() == sequence + 1 && pendingFile.equals(values.fileName());
        if (before != null && !follows) {
            reportLostEntries();
        }
        pendingFile = values.fileName();
        pending = new Loss(
                id,
                sequence,
                before != null && follows ? before.last() : sequence,
                values.place() + " are not the bytes that were written");
    }

    private void reportLostEntries() {
        if (pending != null) {
            lost(pending);
            pending = null;
        }
    }
}
