package io.caravan.inspect;

import io.caravan.SalvageReport;
import io.caravan.SalvageReport.Loss;
import io.caravan.checkpoint.CheckpointReader;
import io.caravan.engine.NewStore;
import io.caravan.format.Blocks;
import io.caravan.format.FileHeader;
import io.caravan.format.FileNames;
import io.caravan.format.FrameLayout;
import io.caravan.format.FrameLayout.Link;
import io.caravan.format.InvalidRecordException;
import io.caravan.format.RecordLayout;
import io.caravan.index.ListIndex;
import io.caravan.io.FileStorage;
import io.caravan.io.MappedFile;
import io.caravan.io.NewDirectory;
import io.caravan.io.Storage;
import io.caravan.io.StoreFile;
import io.caravan.wal.LogFrames;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
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
    /** The number of matching header fields, out of four, that identify a damaged frame of this log. */
    private static final int FIELDS_OF_OURS = 3;

    private final Storage from;
    private final SalvageReport.Listener listener;
    private final DamagedFiles files;
    private final SalvagedIndex index;
    private long endLsn;
    private long lists;
    private long entries;
    private long bytes;
    private long lostEntries;
    private long losses;
    /** The LSN such that the checkpoints reflect all records with lower LSNs. It may lie inside a frame. */
    private long captureLsn = Long.MAX_VALUE;
    /** The position of the first frame that the log must have after the checkpoints. */
    private long startLsn;

    /** The last frame found in the log, and the position after it. */
    private Link lastFrame = Link.NONE;

    private long logEnd;

    private @Nullable Loss pending;
    private String pendingFile = "";

    private Salvager(Storage from, SalvageReport.Listener listener) throws IOException {
        this.from = from;
        this.listener = listener;
        this.files = new DamagedFiles(from);
        this.index = new SalvagedIndex(any -> true, this::lost);
    }

    /** Salvages the closed store in a directory to a new directory. Holds the store's lock during the salvage. */
    public static SalvageReport salvage(Path directory, Path target, SalvageReport.Listener listener)
            throws IOException {
        FileStorage.requireOutside(target, directory);
        try (Storage from =
                        FileStorage.open(directory, FileStorage.Access.READ, found -> new DamagedFiles(found).close());
                NewDirectory created = NewDirectory.begin(target, FileNames::isOurs)) {
            SalvageReport report = salvage(from, created.storage(), listener);
            created.publish();
            return report;
        }
    }

    /** Salvages the store in {@code from} to {@code to}, which is empty. */
    public static SalvageReport salvage(Storage from, Storage to, SalvageReport.Listener listener) throws IOException {
        Salvager salvager = new Salvager(from, listener);
        try (DamagedFiles files = salvager.files;
                NewStore store =
                        new NewStore(to, NewStore.newStoreId(), files.log.segmentBytes(), files.heap.segmentBytes())) {
            salvager.readCheckpoints();
            salvager.readLog();
            salvager.copyLists(store);
            store.publish();
            return new SalvageReport(
                    salvager.lists, salvager.entries, salvager.bytes, salvager.lostEntries, salvager.losses);
        }
    }

    private void lost(Loss loss) {
        losses++;
        listener.lost(loss);
    }

    private void lost(String reason) {
        lost(Loss.of(reason));
    }

    private void readCheckpoints() throws IOException {
        SortedSet<Long> numbers = FileNames.CHECKPOINT.numbers(from.list()).descendingSet();
        List<DamagedCheckpoint> checkpoints = new ArrayList<>();
        for (long number : numbers) {
            listener.at("checkpoints", checkpoints.size(), numbers.size());
            StoreFile file = new SalvageFile(FileNames.CHECKPOINT.of(number));
            try (CheckpointReader reader = new CheckpointReader(file, number)) {
                DamagedCheckpoint found = new DamagedCheckpoint(reader, any -> true);
                checkpoints.add(found);
                endLsn = Math.max(endLsn, reader.provenEndLsn());
                if (found.firstDamage < 0) {
                    break;
                }
                lost(file.path() + " at offset " + found.firstDamage + ": a section is damaged");
            }
        }
        for (int partition = 0; partition < ListIndex.PARTITIONS; partition++) {
            takeBest(partition, checkpoints);
        }
    }

    private void takeBest(int number, List<DamagedCheckpoint> checkpoints) {
        DamagedCheckpoint best = null;
        for (DamagedCheckpoint checkpoint : checkpoints) {
            boolean better = best == null || !best.isWhole(number) && checkpoint.isWhole(number);
            best = checkpoint.partitions[number] != null && better ? checkpoint : best;
        }
        if (best == null) {
            lost("no checkpoint has partition " + number + " of the index: what was in it and not in the log is lost");
        } else {
            index.partitions[number] = Objects.requireNonNull(best.partitions[number]);
        }
        long captured = index.partitions[number].captureLsn();
        if (captured < captureLsn) {
            captureLsn = captured;
            startLsn = best == null ? 0 : best.startLsn;
        }
    }

    /** A segment's file name, and the segment's actual number. */
    private record Segment(String name, long number) {}

    private void readLog() throws IOException {
        List<Segment> segments = segments();
        segments.sort(Comparator.comparingLong(Segment::number));
        segments.forEach(segment -> files.setLogName(segment.number(), segment.name()));
        int done = 0;
        for (Segment segment : segments) {
            listener.at("log", done++, segments.size());
            readSegment(segment);
        }
        long end = Math.max(logEnd, startLsn);
        if (end < endLsn) {
            lost("the log ends at LSN " + end + ", before LSN " + endLsn
                    + ", to which a checkpoint has its records: later appends, trims and deletions are missing");
        }
        endLsn = Math.max(endLsn, lastFrame.lsn());
    }

    /**
     * Lists the log's segments, and reports problems that affect entire files, whose frames may therefore be missing.
     * Takes a segment's number from the segment's header or, if the header is damaged, from the file name.
     */
    private List<Segment> segments() throws IOException {
        TreeSet<Long> numbers = FileNames.LOG.numbers(from.list());
        if (numbers.isEmpty()) {
            lost(from.describe("") + " has no segment of the log");
        }
        List<Segment> segments = new ArrayList<>();
        for (long named : numbers) {
            String name = FileNames.LOG.of(named);
            FileHeader.Fields header = files.header(name, FileNames.LOG);
            boolean isOurs = header != null && header.storeId() == files.storeId;
            long number = header != null && isOurs ? header.number() : named;
            segments.add(new Segment(name, number));
            // The last segment may just have been recycled, and may not have its new header yet.
            if (!isOurs || number > named || number < named && named != numbers.last()) {
                lost(from.describe(name) + ": its header is damaged, or that of another file");
            }
            try (StoreFile file = from.open(name)) {
                if (file.size() != files.log.segmentBytes()) {
                    lost(file.path() + " is " + file.size() + " bytes long, should be " + files.log.segmentBytes());
                }
            }
            Long before = numbers.lower(named);
            if (before != null && before != named - 1) {
                lost(from.describe(FileNames.LOG.of(before + 1)) + " is missing, or more");
            }
        }
        return segments;
    }

    /** Replays those valid frames of a segment that lie after the last frame. Skips other bytes block by block. */
    private void readSegment(Segment segment) throws IOException {
        try (StoreFile file = new SalvageFile(segment.name())) {
            LogFrames frames = new LogFrames(files.log, files.storeId, any -> file, LogFrames.READ_AHEAD_BYTES);
            LogFrames.PassedBlocks blocks = lsn -> {
                boolean isOurs = frames.fieldsRight(lsn, lastFrame.lsn()) >= FIELDS_OF_OURS;
                if (isOurs && (lsn >= captureLsn || lsn >= startLsn && frames.positionBehind(lsn) > captureLsn)) {
                    lost(from.describe(segment.name()) + " at offset "
                            + files.log.offsetOf(lsn) + ": the frame at LSN " + lsn
                            + " does not check: it is damaged, or a crash cut it off before it was acknowledged");
                }
            };
            long next = Blocks.roundUp(lastFrame.lsn() + 1);
            long lsn = frames.firstValid(segment.number(), next, lastFrame.term(), blocks);
            while (lsn != LogFrames.NOWHERE) {
                replay(frames.window(), frames.at(lsn), lsn);
                lastFrame = frames.linkOf(lsn);
                logEnd = frames.positionBehind(lsn);
                lsn = frames.firstValid(segment.number(), logEnd, lastFrame.term(), blocks);
            }
        }
    }

    private void replay(ByteBuffer frames, int at, long lsn) {
        long before = frames.getLong(at + FrameLayout.PREVIOUS_LSN);
        if (before != lastFrame.lsn() && before >= startLsn && lsn > captureLsn) {
            lost("the log lacks frames before LSN " + lsn + ", the last of them at LSN " + before
                    + (lastFrame.lsn() < 0 ? "" : "; the one before that is at LSN " + lastFrame.lsn())
                    + ": appends, trims and deletions may be missing");
        }
        try {
            RecordLayout.forEachInFrame(frames, at, lsn, index);
        } catch (InvalidRecordException invalid) {
            lost("the frame at LSN " + lsn + ": " + invalid.getMessage() + "; what follows in it is lost");
        }
    }

    private void copyLists(NewStore store) throws IOException {
        long total = Arrays.stream(index.partitions)
                .mapToLong(partition -> partition.lists().size())
                .sum();
        for (int partition = 0; partition < ListIndex.PARTITIONS; partition++) {
            store.startPartition(partition);
            for (Map.Entry<Long, SalvagedList> list :
                    index.partitions[partition].lists().entrySet()) {
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
        reportGaps(id, list);
        long[] places = new long[list.count()];
        int from = places.length;
        long moved = 0;
        for (int i = list.runs.size() - 1; i >= 0; i--) {
            SalvagedList.Run run = list.runs.get(i);
            for (long sequence = run.end() - 1; sequence >= run.first(); sequence--) {
                ValueLocation at = files.place(run.region(sequence), endLsn);
                ByteBuffer value = files.value(at, id, list.creationLsn, sequence);
                if (value == null) {
                    lostEntry(id, sequence, at);
                    continue;
                }
                from--;
                long newSequence = list.next() - (places.length - from);
                moved += newSequence == sequence ? 0 : 1;
                places[from] = store.write(id, newSequence, value);
                bytes += value.remaining();
            }
        }
        reportLostEntries();
        int count = places.length - from;
        if (moved > 0) {
            lost("document " + id + ": its oldest " + moved + " values have moved up, to the sequences from "
                    + (list.next() - count) + " on, because later values are missing");
        }
        entries += count;
        store.list(id, list.next(), Arrays.copyOfRange(places, from, places.length), count);
    }

    private void reportGaps(long id, SalvagedList list) {
        long expected = list.first();
        for (SalvagedList.Run run : list.runs) {
            reportGap(id, expected, run.first());
            expected = run.end();
        }
        reportGap(id, expected, list.next());
    }

    private void reportGap(long id, long from, long to) {
        if (from < to) {
            lostEntries += to - from;
            lost(new Loss(id, from, to - 1, "the frames or sections that had them are damaged"));
        }
    }

    /** Records a lost entry. Consecutive lost entries of one file are reported together. */
    private void lostEntry(long id, long sequence, ValueLocation at) {
        lostEntries++;
        Loss before = pending;
        boolean follows = before != null && before.first() == sequence + 1 && pendingFile.equals(at.file());
        if (before != null && !follows) {
            reportLostEntries();
        }
        pendingFile = at.file();
        pending = new Loss(
                id,
                sequence,
                before != null && follows ? before.last() : sequence,
                from.describe(at.file()) + " at offset " + at.offset() + files.unreadable
                        + " are not the bytes that were written");
    }

    private void reportLostEntries() {
        if (pending != null) {
            lost(pending);
            pending = null;
        }
    }

    /** A file of the damaged store. A block that the disk cannot read is reported once, and read as zeros. */
    private final class SalvageFile implements StoreFile {
        private final StoreFile file;
        private final Set<Long> reported = new HashSet<>();

        SalvageFile(String name) throws IOException {
            file = from.open(name);
        }

        @Override
        public int read(ByteBuffer target, long position) throws IOException {
            int start = target.position();
            try {
                return file.read(target, position);
            } catch (IOException unreadable) {
                target.position(start);
            }
            int count = (int) Math.max(0, Math.min(target.remaining(), file.size() - position));
            int done = 0;
            while (done < count) {
                long at = position + done;
                int bytes = (int) Math.min(Blocks.BLOCK_BYTES - at % Blocks.BLOCK_BYTES, count - done);
                readBlock(target.slice(start + done, bytes), at);
                done += bytes;
            }
            target.position(start + count);
            return count;
        }

        private void readBlock(ByteBuffer target, long position) {
            try {
                file.read(target, position);
            } catch (IOException unreadable) {
                target.clear().put(new byte[target.capacity()]);
                if (reported.add(position / Blocks.BLOCK_BYTES)) {
                    lost(path() + " at offset " + position + ": cannot be read: " + unreadable.getMessage());
                }
            }
        }

        @Override
        public String path() {
            return file.path();
        }

        @Override
        public long size() throws IOException {
            return file.size();
        }

        @Override
        public void write(ByteBuffer source, long position) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void force() {
            throw new UnsupportedOperationException();
        }

        @Override
        public MappedFile map() {
            throw new UnsupportedOperationException();
        }

        @Override
        public void close() throws IOException {
            file.close();
        }
    }
}
