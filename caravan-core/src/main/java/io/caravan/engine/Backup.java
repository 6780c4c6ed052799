package io.caravan.engine;

import io.caravan.BackupReport;
import io.caravan.checkpoint.CheckpointHeader;
import io.caravan.format.Blocks;
import io.caravan.format.FileNames;
import io.caravan.io.FileTarget;
import io.caravan.io.Storage;
import io.caravan.io.StoreFile;
import io.caravan.wal.LogGeometry;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Copies an open store to a {@link FileTarget} while writes, trims, and checkpoints continue. The copy contains the
 * durable state of the store at one log position, E, which the log reaches after the heap has been copied.
 *
 * <p>The backup publishes a checkpoint, C, and copies the heap segments that C refers to. Then it fsyncs the log, up to
 * E, and copies the log from C's start to E.
 *
 * <p>Heap places may be reused during the copy. This is harmless: a place that C refers to is freed only after the trim
 * or deletion of its entry is fsynced. The record of the trim or deletion lies before E, and recovery of the copy
 * replays it. No entry that is live at E lies in a place freed before E. Values appended after C are in the copied part
 * of the log.
 *
 * <p>A lease keeps these log and heap segments from being recycled or deleted. Use this class on one thread, which must
 * be neither a store thread nor interrupted.
 */
public final class Backup {
    private static final int PORTION_BYTES = 1 << 20;

    private final Engine engine;
    private final Storage from;
    private final FileTarget to;
    private final BackupReport.Progress progress;
    private final ByteBuffer portion = ByteBuffer.allocateDirect(PORTION_BYTES);
    private int files;
    private long bytes;
    private long copied;
    private long total;

    Backup(Engine engine, FileTarget to, BackupReport.Progress progress) {
        this.engine = engine;
        this.from = engine.state.storage;
        this.to = to;
        this.progress = progress;
    }

    /** Makes the backup. All files of the copy and their names are durable when this returns. */
    BackupReport run() throws IOException {
        Start start = begin();
        try (StoreFile file = start.checkpointFile()) {
            return copyAll(start.checkpoint(), file);
        } finally {
            engine.provisioner.endLease(start.lease());
        }
    }

    private BackupReport copyAll(CheckpointHeader checkpoint, StoreFile checkpointFile) throws IOException {
        int heapSegments = checkpoint.heapSegments();
        total = checkpointFile.size() + (long) heapSegments * checkpoint.heapSegmentBytes();
        copyWhole(checkpointFile, FileNames.CHECKPOINT.of(checkpoint.number()));
        for (int segment = 0; segment < heapSegments; segment++) {
            String name = FileNames.HEAP.of(segment);
            try (StoreFile source = from.open(name)) {
                copyWhole(source, name);
            }
        }
        long end = forcedEnd();
        copyLog(checkpoint, end);
        // The lease is valid only while the store is open. Once it is closed, another process may recycle the copied
        // files.
        engine.state.checkWritable();
        to.forceDirectory();
        return new BackupReport(end, checkpoint.number(), files, bytes);
    }

    /**
     * The checkpoint to copy and the lease on its files. The open file stays readable if a later checkpoint deletes it.
     */
    private record Start(CheckpointHeader checkpoint, StoreFile checkpointFile, Provisioner.Lease lease) {}

    /** Publishes a checkpoint and takes the lease in one checkpointer task, so that no file is removed in between. */
    private Start begin() {
        AtomicReference<Start> begun = new AtomicReference<>();
        engine.onCheckpointer(() -> {
            engine.checkpointer.publish();
            CheckpointHeader newest = engine.checkpointer.newest();
            long firstLog = new LogGeometry(newest.logSegmentBytes()).segmentOf(newest.startLsn());
            Provisioner.Lease lease = new Provisioner.Lease(firstLog, newest.heapSegments());
            StoreFile file = from.open(FileNames.CHECKPOINT.of(newest.number()));
            engine.provisioner.take(lease);
            begun.set(new Start(newest, file, lease));
        });
        return Objects.requireNonNull(begun.get());
    }

    /**
     * Fsyncs the log, and returns the LSN at which the log of the copy ends. Every trim that has freed a place lies
     * before that end.
     */
    private long forcedEnd() {
        engine.onCheckpointer(engine.flusher::forceLog);
        return engine.state.forced.position();
    }

    private void copyWhole(StoreFile source, String name) throws IOException {
        long size = source.size();
        try (StoreFile target = create(name, 0, size)) {
            target.write(ByteBuffer.allocate(1), size - 1);
            copy(source, target, 0, size);
            target.force();
        }
    }

    private void copyLog(CheckpointHeader start, long end) throws IOException {
        LogGeometry geometry = new LogGeometry(start.logSegmentBytes());
        // If the last segment is full, the end lies in the next segment, which has no frames yet.
        long last = geometry.segmentOf(Math.max(start.startLsn(), end - Blocks.BLOCK_BYTES - 1));
        total += end - start.startLsn();
        for (long segment = geometry.segmentOf(start.startLsn()); segment <= last; segment++) {
            String name = FileNames.LOG.of(segment);
            long first = Math.max(start.startLsn(), geometry.firstFrame(segment));
            long behind = Math.max(first, Math.min(end, geometry.startOf(segment + 1)));
            try (StoreFile source = from.open(name);
                    StoreFile target = create(name, start.logSegmentBytes(), start.logSegmentBytes())) {
                copy(source, target, 0, Blocks.BLOCK_BYTES);
                copy(source, target, first - geometry.startOf(segment), behind - geometry.startOf(segment));
                target.force();
            }
        }
    }

    private StoreFile create(String name, int allocatedBytes, long size) throws IOException {
        files++;
        bytes += size;
        return to.create(name, allocatedBytes);
    }

    /** Copies a range of a file. Skips ranges of zeros, because the new file has zeros there already. */
    private void copy(StoreFile source, StoreFile target, long first, long end) throws IOException {
        for (long at = first; at < end; at += PORTION_BYTES) {
            int wanted = (int) Math.min(PORTION_BYTES, end - at);
            int read = source.read(portion.clear().limit(wanted), at);
            if (read < wanted) {
                throw new IOException(source.path() + " ends at offset " + (at + read) + ", before its " + end
                        + " bytes; verify the store");
            }
            if (!isZero(portion.flip())) {
                target.write(portion, at);
            }
            copied += wanted;
            requireLogSpace();
            progress.at(copied, Math.max(total, copied));
        }
    }

    private static boolean isZero(ByteBuffer bytes) {
        return bytes.remaining() % Long.BYTES == 0 && holdsZerosOnly(bytes);
    }

    private static boolean holdsZerosOnly(ByteBuffer bytes) {
        for (int at = 0; at < bytes.limit(); at += Long.BYTES) {
            if (bytes.getLong(at) != 0) {
                return false;
            }
        }
        return true;
    }

    /**
     * Throws an exception if the log cannot grow, because the log segments that the backup keeps may take the space
     * that the log needs.
     */
    private void requireLogSpace() throws IOException {
        if (engine.provisioner.isLogOutOfSpace()) {
            throw new IOException(
                    "the log cannot grow (" + engine.provisioner.logProblem()
                            + "), and the backup keeps parts of it from being recycled; free disk space, and start the backup again");
        }
    }
}
