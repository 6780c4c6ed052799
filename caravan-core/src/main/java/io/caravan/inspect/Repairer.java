package io.caravan.inspect;

import io.caravan.CorruptStoreException;
import io.caravan.RepairReport;
import io.caravan.VerifyReport;
import io.caravan.checkpoint.CheckpointHeader;
import io.caravan.checkpoint.CheckpointReader;
import io.caravan.engine.PacedProgress;
import io.caravan.engine.Recovery;
import io.caravan.format.FileNames;
import io.caravan.io.FileStorage;
import io.caravan.io.FileStorage.Access;
import io.caravan.io.Storage;
import io.caravan.io.StoreFile;
import io.caravan.wal.LogFrames;
import io.caravan.wal.LogGeometry;
import io.caravan.wal.LogScanner;
import io.caravan.wal.LogSegments;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * Cuts a log off before its first damaged frame, and removes damaged checkpoints that are newer than the newest intact
 * one. A store that could not be opened can then be opened, but lacks the writes after the cut. A repair is made only on
 * request, never when a store is opened. Every file that the repair changes or removes is first copied to a separate
 * directory.
 */
public final class Repairer {
    private static final int COPY_BYTES = 1 << 20;

    private final Storage storage;
    /** The directory for the copies of files; null for a dry run, which changes nothing. */
    private final @Nullable Path keepDirectory;

    private final List<String> kept = new ArrayList<>();

    private final VerifyReport.Progress progress;

    private Repairer(Storage storage, @Nullable Path keepDirectory, VerifyReport.Progress progress) {
        this.storage = storage;
        this.keepDirectory = keepDirectory;
        this.progress = new PacedProgress(progress);
    }

    /** Repairs the closed store in a directory; see {@link io.caravan.DurableListStore#repair}. */
    public static RepairReport repair(Path directory, Path keepDirectory, VerifyReport.Progress progress)
            throws IOException {
        FileStorage.requireOutside(keepDirectory, directory);
        if (Files.exists(keepDirectory)) {
            FileStorage.requireEmpty(FileStorage.readOnly(keepDirectory));
        }
        try (Storage storage = FileStorage.open(directory, Access.WRITE, Recovery::requireStore)) {
            return new Repairer(storage, keepDirectory, progress).repair();
        }
    }

    /** Plans the repair of the closed store in a directory; see {@link io.caravan.DurableListStore#planRepair}. */
    public static RepairReport plan(Path directory, VerifyReport.Progress progress) throws IOException {
        try (Storage storage = FileStorage.open(directory, Access.READ, Recovery::requireStore)) {
            return new Repairer(storage, null, progress).repair();
        }
    }

    private RepairReport repair() throws IOException {
        Recovery recovery = new Recovery(storage, progress, OptionalLong.empty(), false);
        try {
            recovery.recover().close();
            return new RepairReport(LogFrames.NOWHERE, List.of());
        } catch (CorruptStoreException damage) {
            return new RepairReport(cut(recovery, newestWhole(recovery, damage)), kept);
        }
    }

    private CheckpointHeader newestWhole(Recovery recovery, CorruptStoreException damage) throws IOException {
        List<Long> numbers = recovery.checkpointNumbers();
        for (long number : numbers) {
            progress.at("checkpoints", numbers.indexOf(number), numbers.size());
            try (CheckpointReader reader = new CheckpointReader(storage, number)) {
                reader.read(CheckpointReader.Visitor.NONE);
                return reader.header();
            } catch (CorruptStoreException tryTheOlder) {
                damage.addSuppressed(tryTheOlder);
            }
        }
        throw damage;
    }

    /** Cuts off the log, and returns the position of the cut. A dry run changes nothing. */
    private long cut(Recovery recovery, CheckpointHeader checkpoint) throws IOException {
        LogGeometry geometry = new LogGeometry(checkpoint.logSegmentBytes());
        try (LogSegments log = new LogSegments(storage, geometry, checkpoint.storeId())) {
            for (long segment : FileNames.LOG.numbers(storage.list())) {
                log.open(segment);
            }
            long first = geometry.segmentOf(checkpoint.startLsn());
            long end = new LogScanner(log)
                    .visitFrames(
                            checkpoint.startLsn(),
                            checkpoint.previous(),
                            Long.MAX_VALUE,
                            (segment, at, lsn) ->
                                    progress.at("whole log", geometry.segmentOf(lsn) - first, log.last() - first + 1))
                    .position();
            if (end < checkpoint.endLsn()) {
                throw new CorruptStoreException(
                        storage.describe(FileNames.LOG.of(geometry.segmentOf(end))),
                        geometry.offsetOf(end),
                        "the log is damaged at LSN " + end + ", before the end of the newest whole checkpoint at LSN "
                                + checkpoint.endLsn() + "; cutting it off would lose more than the log: restore the"
                                + " directory from a backup");
            }
            List<String> newer = recovery.checkpointNumbers().stream()
                    .filter(number -> number > checkpoint.number())
                    .map(FileNames.CHECKPOINT::of)
                    .toList();
            // Throws if any fault would remain, because then more than the log is damaged.
            recovery.recoverCutAt(checkpoint, end).close();
            cutAt(log, end, newer);
            return end;
        }
    }

    /** Cuts off the log, and removes damaged checkpoints, which would show that the log had been longer. */
    private void cutAt(LogSegments log, long end, List<String> checkpoints) throws IOException {
        long segment = log.geometry().segmentOf(end);
        List<String> changed = new ArrayList<>(checkpoints);
        log.from(segment).forEach(number -> changed.add(FileNames.LOG.of(number)));
        if (keepDirectory == null) {
            changed.forEach(name -> kept.add(storage.describe(name)));
            return;
        }
        try (Storage keep = FileStorage.open(keepDirectory, Access.CREATE, FileStorage::requireEmpty)) {
            for (String name : changed) {
                progress.at("copies", kept.size(), changed.size());
                copy(name, keep);
            }
            keep.forceDirectory();
        }
        while (log.last() > segment) {
            log.discard(log.last());
        }
        if (log.ready(segment)) {
            zeroFrom(log.file(segment), log.geometry().offsetOf(end));
        }
        for (String name : checkpoints) {
            storage.delete(name);
        }
        storage.forceDirectory();
    }

    private void copy(String name, Storage keep) throws IOException {
        try (StoreFile from = storage.open(name);
                StoreFile to = keep.create(name, 0)) {
            ByteBuffer bytes = ByteBuffer.allocateDirect(COPY_BYTES);
            long position = 0;
            while (from.read(bytes.clear(), position) > 0) {
                int count = bytes.flip().remaining();
                to.write(bytes, position);
                position += count;
            }
            to.force();
            kept.add(to.path());
        }
    }

    private static void zeroFrom(StoreFile file, long position) throws IOException {
        long size = file.size();
        ByteBuffer zeros = ByteBuffer.allocateDirect(COPY_BYTES);
        for (long at = position; at < size; at += zeros.limit()) {
            zeros.clear().limit((int) Math.min(COPY_BYTES, size - at));
            file.write(zeros, at);
        }
        file.force();
    }
}
