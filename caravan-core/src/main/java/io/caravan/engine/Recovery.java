package io.caravan.engine;

import io.caravan.CorruptStoreException;
import io.caravan.StoreConfig;
import io.caravan.StoreDirectoryException;
import io.caravan.VerifyReport;
import io.caravan.checkpoint.CheckpointHeader;
import io.caravan.checkpoint.CheckpointReader;
import io.caravan.format.Blocks;
import io.caravan.format.CheckpointLayout;
import io.caravan.format.EntryLayout;
import io.caravan.format.FileNames;
import io.caravan.format.Region;
import io.caravan.heap.FreeSpace;
import io.caravan.heap.HeapFile;
import io.caravan.heap.HeapGeometry;
import io.caravan.heap.IndexedHeap;
import io.caravan.index.ListIndex;
import io.caravan.io.Storage;
import io.caravan.io.StoreFile;
import io.caravan.wal.LogGeometry;
import io.caravan.wal.LogScanner;
import io.caravan.wal.LogSegments;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;

/**
 * Reads a store's files and determines the state of the store, according to the table in {@link RecoveryCase}. Only
 * {@link #open} writes anything: once the state is determined, it makes all changes to files that an open requires.
 */
public final class Recovery {
    /** Memory that an open may take to collect the used regions of the heap, so that few passes suffice. */
    private static final long MIN_COLLECTED_BYTES = 8 << 20;

    /**
     * Names of entries that file systems create in the root of a volume. They do not belong to a store, and are
     * harmless.
     */
    private static final Set<String> IGNORED = Set.of("lost+found");

    private final Storage storage;
    private final VerifyReport.Progress progress;
    private final OptionalLong forcedLsn;
    private final boolean beingWritten;
    /** The end of the log as found by the first scan, if another process is writing the log. */
    private OptionalLong reached = OptionalLong.empty();

    /** The numbers of the log segments, heap segments, and checkpoints, and the names of unfinished files. */
    private final TreeSet<Long> logs;

    private final TreeSet<Long> heaps;
    private final TreeSet<Long> checkpoints;
    private final List<String> temporaries;
    /** The numbers of the damaged checkpoints, newest first. */
    private final List<Long> bad = new ArrayList<>();

    private final Set<RecoveryCase> cases = EnumSet.noneOf(RecoveryCase.class);

    public Recovery(Storage storage) throws IOException {
        this(storage, VerifyReport.Progress.NONE, OptionalLong.empty(), false);
    }

    /**
     * Creates a recovery of the store in {@code storage}, and lists the store's files. Rejects a directory with files
     * that do not belong to a store.
     *
     * @param progress is called after each checkpoint and frame
     * @param forcedLsn the position up to which the log was fsynced, if the store is a replica
     * @param beingWritten whether another process is writing the store; the result is then suitable only for
     *     verification
     */
    public Recovery(Storage storage, VerifyReport.Progress progress, OptionalLong forcedLsn, boolean beingWritten)
            throws IOException {
        this.storage = storage;
        this.progress = progress;
        this.forcedLsn = forcedLsn;
        this.beingWritten = beingWritten;
        requireKnown(storage);
        List<String> names = storage.list();
        logs = FileNames.LOG.numbers(names);
        heaps = FileNames.HEAP.numbers(names);
        checkpoints = FileNames.CHECKPOINT.numbers(names);
        temporaries = names.stream().filter(FileNames::isTemporary).toList();
        if (!temporaries.isEmpty()) {
            cases.add(RecoveryCase.LEFTOVER_TEMPORARY_FILES);
        }
    }

    /** Checks that a directory has only files that belong to a store. */
    public static void requireKnown(Storage storage) throws IOException {
        List<String> unknown = storage.list().stream()
                .filter(name -> !FileNames.isOurs(name) && !IGNORED.contains(name))
                .toList();
        if (unknown.contains(FileNames.SHARDS)) {
            throw new StoreDirectoryException(storage.describe("") + " contains the stores of several shards: name the"
                    + " directory of one, such as " + storage.describe(FileNames.shard(0)));
        }
        if (!unknown.isEmpty()) {
            throw new StoreDirectoryException(storage.describe(unknown.get(0)) + " is not a file of a store"
                    + (unknown.size() > 1 ? ", nor are " + (unknown.size() - 1) + " others in this directory" : "")
                    + "; move what is not Caravan's elsewhere, or name another directory");
        }
    }

    /** Checks that a directory contains a store, and no other files. */
    public static void requireStore(Storage storage) throws IOException {
        if (new Recovery(storage).nothingToOpen()) {
            throw new StoreDirectoryException(storage.describe("") + " holds no store");
        }
    }

    /**
     * Whether no store exists: the directory has no store files, or the creation of the store was interrupted before
     * any value was written.
     */
    public boolean nothingToOpen() throws IOException {
        if (!checkpoints.isEmpty()) {
            return false;
        }
        if (logs.isEmpty() && heaps.isEmpty()) {
            cases.add(RecoveryCase.NOTHING_THERE);
            return true;
        }
        boolean firstFilesOnly = Set.of(0L).containsAll(logs) && Set.of(0L).containsAll(heaps);
        if (!firstFilesOnly || holdsAnything(FileNames.LOG) || holdsAnything(FileNames.HEAP)) {
            throw new StoreDirectoryException("there is no checkpoint for the segments in " + storage.describe("")
                    + "; put the checkpoint files back, or restore the directory from a backup");
        }
        cases.add(RecoveryCase.CREATION_CUT_OFF);
        return true;
    }

    /**
     * Whether the only segment file of this kind contains anything but zeros after its header. The caller checks both
     * kinds, because a copy of a store may have all values in the heap and an empty log.
     */
    private boolean holdsAnything(FileNames kind) throws IOException {
        String name = kind.of(0);
        if (!storage.list().contains(name)) {
            return false;
        }
        try (StoreFile file = storage.open(name)) {
            ByteBuffer block = ByteBuffer.allocate(Blocks.BLOCK_BYTES);
            ByteBuffer zeros = ByteBuffer.allocate(Blocks.BLOCK_BYTES);
            long position = Blocks.BLOCK_BYTES;
            while (file.read(block.clear(), position) > 0) {
                int bytes = block.flip().limit();
                if (!block.equals(zeros.clear().limit(bytes))) {
                    return true;
                }
                position += bytes;
            }
            return false;
        }
    }

    /** Returns the numbers of the checkpoint files, newest first. */
    public List<Long> checkpointNumbers() {
        return new ArrayList<>(checkpoints.descendingSet());
    }

    /** Rebuilds the state of an existing store from the newest good checkpoint and the log after it. */
    public Recovered recover() throws IOException {
        bad.clear();
        Recovered replayed = null;
        CorruptStoreException firstProblem = null;
        int read = 0;
        try {
            for (long number : checkpointNumbers()) {
                progress.at("checkpoints", read++, checkpoints.size());
                try (CheckpointReader reader = new CheckpointReader(storage, number)) {
                    if (replayed == null) {
                        replayed = recoverFrom(reader);
                    } else {
                        requireSameStore(reader, replayed.newest());
                        replayed.checkpoints().add(0, reader.header());
                    }
                } catch (CorruptStoreException problem) {
                    if (!problem.file().equals(storage.describe(FileNames.CHECKPOINT.of(number)))) {
                        throw problem;
                    }
                    firstProblem = firstProblem == null ? problem : firstProblem;
                    bad.add(number);
                }
            }
        } catch (IOException | RuntimeException | Error failed) {
            if (replayed != null) {
                replayed.close();
            }
            throw failed;
        }
        if (replayed == null) {
            throw allBad(Objects.requireNonNull(firstProblem));
        }
        if (!bad.isEmpty() && bad.get(0) > replayed.newest().number()) {
            cases.add(RecoveryCase.NEWEST_CHECKPOINT_BAD);
        }
        return replayed;
    }

    private static void requireSameStore(CheckpointReader reader, CheckpointHeader newest) {
        long storeId = reader.header().storeId();
        if (storeId != newest.storeId()) {
            throw new StoreDirectoryException(
                    reader.path() + " belongs to store " + Long.toHexString(storeId) + ", not to this one, "
                            + Long.toHexString(newest.storeId()) + "; restore the directory from a backup");
        }
    }

    private static CorruptStoreException allBad(CorruptStoreException first) {
        CorruptStoreException problem = new CorruptStoreException(
                first.file(), first.offset(), "no checkpoint is intact; restore the directory from a backup");
        problem.initCause(first);
        return problem;
    }

    /**
     * Rebuilds the state that {@link #recover()} would find if the log ended at this position and if this checkpoint
     * were the newest.
     */
    public Recovered recoverCutAt(CheckpointHeader newest, long endLsn) throws IOException {
        checkpoints.tailSet(newest.number(), false).clear();
        logs.tailSet(new LogGeometry(newest.logSegmentBytes()).segmentOf(endLsn), false)
                .clear();
        reached = OptionalLong.of(endLsn);
        return recover();
    }

    /** Rebuilds the state of the store from this checkpoint and the log after it. */
    public Recovered recoverFrom(CheckpointReader reader) throws IOException {
        CheckpointHeader header = reader.header();
        requireOurPartitions(reader);
        HeapFile heapFile = new HeapFile(storage, new HeapGeometry(header.heapSegmentBytes()), header.storeId());
        LogGeometry geometry = new LogGeometry(header.logSegmentBytes());
        LogSegments log = new LogSegments(storage, geometry, header.storeId());
        try {
            Shown shown = shown(header);
            openHeap(heapFile, header, shown.heapSegments);
            for (long segment : logs) {
                log.open(segment);
            }
            FreeSpace freeSpace = freeSpace(header, heapFile);
            IndexReplay replay = new IndexReplay(reader, freeSpace::add);
            reader.read(replay);
            requireEachListOnce(reader, replay.index());
            requireSegments(geometry.segmentOf(header.startLsn()));
            LogScanner.End end = scan(log, header, shown.end, replay);
            // If the last segment with frames is full, the end lies in the next segment, which may be unfinished.
            long lastLsn = end.frames() > 0 ? end.last().lsn() : header.startLsn();
            checkSegments(log, geometry.segmentOf(header.startLsn()), geometry.segmentOf(lastLsn));
            IndexedHeap heap = new IndexedHeap();
            freeSpace.rebuild(heap, action -> reader.read(new HeapRegions(action)));
            noteEnd(end);
            return new Recovered(
                    new ArrayList<>(List.of(header)),
                    reader.fileBytes(),
                    log,
                    end,
                    replay.bytesAfterFront(),
                    heapFile,
                    replay.index(),
                    heap,
                    replay.freed(),
                    cases);
        } catch (IOException | RuntimeException | Error failed) {
            heapFile.close();
            log.close();
            throw failed;
        }
    }

    private static void requireOurPartitions(CheckpointReader reader) {
        int partitions = reader.header().partitions();
        if (partitions != ListIndex.PARTITIONS) {
            throw new CorruptStoreException(
                    reader.path(),
                    CheckpointLayout.PARTITIONS,
                    "has " + partitions + " partitions, should have " + ListIndex.PARTITIONS);
        }
    }

    private static void requireEachListOnce(CheckpointReader reader, ListIndex index) {
        if (index.listCount() != reader.header().lists()) {
            throw new CorruptStoreException(
                    reader.path(),
                    CheckpointLayout.LIST_COUNT,
                    "holds " + reader.header().lists() + " lists of " + index.listCount() + " documents");
        }
    }

    private void noteEnd(LogScanner.End end) {
        if (end.frames() > 0) {
            cases.add(RecoveryCase.FRAMES_TO_REPLAY);
        }
        if (end.torn()) {
            cases.add(RecoveryCase.TORN_TAIL);
        }
        if (end.gap()) {
            cases.add(forcedLsn.isPresent() ? RecoveryCase.GAP_IN_A_REPLICA : RecoveryCase.GAP_AFTER_FSYNCED_FRAMES);
        }
        if (cases.isEmpty()) {
            cases.add(RecoveryCase.CLEAN_CLOSE);
        }
    }

    private LogScanner.End scan(
            LogSegments log, CheckpointHeader header, LogScanner.ProvenEnd proven, IndexReplay replay)
            throws IOException {
        long first = log.geometry().segmentOf(header.startLsn());
        long segments = log.last() - first + 1;
        LogScanner scanner = new LogScanner(log);
        LogScanner.FrameVisitor frames = (segment, at, lsn) -> {
            progress.at("log", log.geometry().segmentOf(lsn) - first, segments);
            replay.frame(segment, at, lsn);
        };
        if (reached.isPresent()) {
            return scanner.scanUpTo(header.startLsn(), header.previous(), reached.getAsLong(), frames);
        }
        LogScanner.End end =
                scanner.scan(header.startLsn(), header.previous(), proven, forcedLsn, beingWritten, frames);
        reached = beingWritten ? OptionalLong.of(end.position()) : reached;
        return end;
    }

    private void openHeap(HeapFile heapFile, CheckpointHeader header, int counted) throws IOException {
        while (heapFile.segmentCount() < counted && heaps.contains((long) heapFile.segmentCount())) {
            heapFile.openNext();
        }
        if (heapFile.segmentCount() < header.heapSegments()) {
            throw missing(FileNames.HEAP.of(heapFile.segmentCount()), "though it holds part of the store's values");
        }
    }

    /**
     * The facts that the store's checkpoints show together, even if they are damaged.
     *
     * @param heapSegments the number of heap segments to which a checkpoint refers; later segments have no values
     * @param end the position that the log must reach
     */
    private record Shown(int heapSegments, LogScanner.ProvenEnd end) {}

    private Shown shown(CheckpointHeader from) throws IOException {
        Shown shown = new Shown(0, new LogScanner.ProvenEnd(0, ""));
        for (long number : checkpointNumbers()) {
            try (CheckpointReader reader = new CheckpointReader(storage, number)) {
                CheckpointHeader header = reader.damagedHeader();
                if (header == null || header.storeId() == from.storeId()) {
                    // An older checkpoint of this store has no later end. If its file seems to, the file is foreign.
                    long endLsn = number < from.number() ? 0 : reader.provenEndLsn();
                    shown = new Shown(
                            Math.max(shown.heapSegments, header == null ? 0 : header.heapSegments()),
                            endLsn > shown.end.lsn() ? new LogScanner.ProvenEnd(endLsn, reader.path()) : shown.end);
                }
            }
        }
        return shown;
    }

    /**
     * Checks that no segment is missing. Segments are added at the end and removed at the beginning, one by one, and
     * each change is durable before the next change. Therefore no crash leaves a gap.
     */
    private void requireSegments(long first) {
        long expected = first;
        for (long segment : logs.tailSet(first)) {
            if (segment != expected) {
                throw missing(FileNames.LOG.of(expected), "though " + FileNames.LOG.of(segment) + " is there");
            }
            expected++;
        }
        if (expected == first) {
            throw missing(FileNames.LOG.of(first), "though replay starts in it");
        }
    }

    private StoreDirectoryException missing(String file, String reason) {
        return new StoreDirectoryException(storage.describe(file) + " is missing, " + reason
                + "; put the file back, or restore the directory from a backup");
    }

    /**
     * Checks the size and header of every segment. The header of the last segment may be invalid if this segment has no
     * frames. Each segment is finished before the next segment is created. No crash changes a size, because a file is
     * created under a temporary name.
     */
    private void checkSegments(LogSegments log, long first, long lastInUse) throws IOException {
        for (long segment = first; segment <= log.last(); segment++) {
            log.checkSize(segment);
            if (segment <= lastInUse || segment < log.last()) {
                log.checkHeader(segment);
            } else if (!finished(log, segment)) {
                cases.add(RecoveryCase.HALF_MADE_SEGMENT);
            }
        }
    }

    private static boolean finished(LogSegments log, long segment) throws IOException {
        try {
            log.checkHeader(segment);
            return true;
        } catch (CorruptStoreException halfMade) {
            return false;
        }
    }

    private static FreeSpace freeSpace(CheckpointHeader header, HeapFile heapFile) {
        // A store must open in a JVM heap as large as the one in which it ran. This takes at most one byte for each
        // entry in addition to the index.
        long maxBytes = Math.max(MIN_COLLECTED_BYTES, header.entries());
        return new FreeSpace(heapFile.geometry(), heapFile.segmentCount(), maxBytes, heapFile::path);
    }

    /** Passes the regions of a checkpoint that are in the heap to an action. */
    record HeapRegions(LongConsumer action) implements CheckpointReader.Visitor {
        @Override
        public void piece(long id, long creationLsn, long first, long next, ByteBuffer regions, int at, int count) {
            for (int i = 0; i < count; i++) {
                long region = regions.getLong(at + i * Long.BYTES);
                if (!Region.isInLog(region)) {
                    action.accept(region);
                }
            }
        }
    }

    /**
     * Opens the store in {@code storage}, after creating it if it does not exist.
     *
     * @param replicaOf the id of the store of which this store is a replica, if it is one
     * @param fsyncedLsn the position up to which a replica's log was fsynced
     * @param newId returns the id of a store that is created and is not a replica
     */
    static Recovered open(
            Storage storage, StoreConfig config, OptionalLong replicaOf, OptionalLong fsyncedLsn, LongSupplier newId)
            throws IOException {
        Recovery recovery = new Recovery(storage, VerifyReport.Progress.NONE, fsyncedLsn, false);
        if (recovery.nothingToOpen()) {
            recovery.removeRemains();
            NewStore.createEmpty(storage, config, replicaOf.orElseGet(newId));
            Set<RecoveryCase> before = recovery.cases;
            recovery = new Recovery(storage, VerifyReport.Progress.NONE, fsyncedLsn, false);
            recovery.cases.addAll(before);
        }
        Recovered recovered = recovery.recover();
        try {
            checkFits(recovered.newest(), config, replicaOf);
            recovery.cleanUp(recovered);
            return recovered;
        } catch (IOException | RuntimeException | Error failed) {
            recovered.close();
            throw failed;
        }
    }

    /** Checks that a recovered store is the expected replica, and that it can contain the configured values. */
    private static void checkFits(CheckpointHeader header, StoreConfig config, OptionalLong replicaOf) {
        long found = header.storeId();
        if (replicaOf.orElse(found) != found) {
            throw new StoreDirectoryException(
                    "the store in " + config.directory() + " is " + Long.toHexString(found) + ", not a replica of "
                            + Long.toHexString(replicaOf.getAsLong()) + "; give the replica a directory of its own");
        }
        // The sizes of the segments were fixed when the store was created.
        int logBytes = config.maxValueBytes() + StoreConfig.BLOCK_BYTES;
        int heapBytes = EntryLayout.entryBytes(config.maxValueBytes());
        if (logBytes > header.logSegmentBytes() - StoreConfig.BLOCK_BYTES
                || heapBytes > new HeapGeometry(header.heapSegmentBytes()).usableBytes()) {
            throw new StoreDirectoryException(
                    "the store in " + config.directory() + " was created with log segments of "
                            + header.logSegmentBytes() + " and heap segments of " + header.heapSegmentBytes()
                            + " bytes, too small for values of " + config.maxValueBytes()
                            + " bytes; lower maxValueBytes, or copy the lists into a new store");
        }
    }

    /** Removes files that an interrupted creation of the store has left behind. */
    private void removeRemains() throws IOException {
        deleteTemporaries();
        delete(FileNames.LOG, logs);
        delete(FileNames.HEAP, heaps);
        storage.forceDirectory();
    }

    private void deleteTemporaries() throws IOException {
        for (String name : temporaries) {
            storage.delete(name);
        }
    }

    private void delete(FileNames kind, Iterable<Long> numbers) throws IOException {
        for (long number : numbers) {
            storage.delete(kind.of(number));
        }
    }

    /**
     * Removes files that are not needed: temporary files, an unfinished log segment, unused heap segments, and bad
     * checkpoints. Makes the remaining files durable before any reader sees their contents.
     */
    private void cleanUp(Recovered recovered) throws IOException {
        deleteTemporaries();
        LogSegments log = recovered.log();
        if (!finished(log, log.last())) {
            log.discard(log.last());
        }
        delete(FileNames.HEAP, heaps.tailSet((long) recovered.heapFile().segmentCount()));
        delete(FileNames.CHECKPOINT, bad);
        // Names are made durable first, so that no frame is written to segments whose checkpoint a power failure could
        // still remove.
        storage.forceDirectory();
        finishLastSegment(recovered);
        log.settle(recovered.newest().startLsn(), recovered.end());
    }

    /**
     * Rewrites the header of the last segment, because the header may be only in the page cache. This happens if the
     * process was killed before the fsync of the header, or if this fsync failed. The creation of the next segment
     * relies on the last segment being finished. (A segment that contains a frame or a checkpoint's start had its
     * header fsynced before.)
     */
    private static void finishLastSegment(Recovered recovered) throws IOException {
        LogSegments log = recovered.log();
        long lastUse =
                Math.max(recovered.newest().startLsn(), recovered.end().last().lsn());
        if (log.last() > log.geometry().segmentOf(lastUse)) {
            log.rewriteHeader(log.last());
        }
    }
}
