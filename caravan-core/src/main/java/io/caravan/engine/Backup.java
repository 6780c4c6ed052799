package io.caravan.engine;

import io.caravan.BackupReport;
import io.caravan.checkpoint.CheckpointHeader;
import io.caravan.format.Blocks;
import io.caravan.format.FileNames;
import io.caravan.io.Storage;
import io.caravan.io.StoreFile;
import io.caravan.wal.LogGeometry;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Copies an open store to another storage while writes, trims and checkpoints go on. The copy is the store as it was,
 * durably, at one position of its log, which it reached after the copying of the heap.
 *
 * <p>The order makes it so: (1) a fresh checkpoint C; (2) the heap segments that C counts on; (3) the log from C's start
 * up to E, where it is forced when (2) is done. Places in the heap are reused while they are copied, and that does no
 * harm: a place that C names is freed only when the trim or deletion of its entry is forced, and so lies before E,
 * whatever has been written there when the copy came to it. Recovery of the copy replays that trim, and nothing that is
 * live at E lies in a place that was freed before. What has come since C lies in the log between C's start and E, where
 * the copy's index looks for it. A lease keeps these log segments and heap segments from being recycled or deleted.
 *
 * <p>To be used by one thread, which must be neither a store's thread nor one that others may interrupt.
 */
public final class Backup {
    private static final int PORTION_BYTES = 1 << 20;

    private final StoreParts parts;
    private final Storage from;
    private final Storage to;
    private final BackupReport.Progress progress;
    private final ByteBuffer portion = ByteBuffer.allocateDirect(PORTION_BYTES);
    private int files;
    private long bytes;
    private long copied;
    private long total;

    Backup(StoreParts parts, Storage to, BackupReport.Progress progress) {
        this.parts = parts;
        this.from = parts.state.storage;
        this.to = to;
        this.progress = progress;
    }

    /** Copies the store; every file and name is durable when this returns. */
    BackupReport run() throws IOException {
        Start start = begin();
        try (StoreFile file = start.checkpointFile()) {
            return copyAll(start.checkpoint(), file);
        } finally {
            parts.provisioner.giveBack(start.lease());
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
        // The lease holds only while the store is open: afterwards another process may recycle what was copied.
        parts.state.checkWritable();
        to.forceDirectory();
        return new BackupReport(end, checkpoint.number(), files, bytes);
    }

    /** What is copied, and what keeps it there; the checkpoint's file can be read although a later one removes it. */
    private record Start(CheckpointHeader checkpoint, StoreFile checkpointFile, Provisioner.Lease lease) {}

    /** Publishes a checkpoint and takes the lease, on the checkpointer's thread: nothing goes away in between. */
    private Start begin() {
        AtomicReference<Start> begun = new AtomicReference<>();
        parts.onCheckpointer(() -> {
            parts.checkpointer.publish();
            CheckpointHeader newest = parts.checkpoints.newest();
            long firstLog = new LogGeometry(newest.logSegmentBytes()).segmentOf(newest.startLsn());
            Provisioner.Lease lease = new Provisioner.Lease(firstLog, newest.heapSegments());
            StoreFile file = from.open(FileNames.CHECKPOINT.of(newest.number()));
            parts.provisioner.take(lease);
            begun.set(new Start(newest, file, lease));
        });
        return Objects.requireNonNull(begun.get());
    }

    /** Where the log ends in the copy: it is forced up to there, and every trim that has freed a place lies before. */
    private long forcedEnd() {
        parts.onCheckpointer(parts.checkpoints::forceLog);
        return parts.state.forced.position();
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
        // The position behind a full segment lies in the next one, which holds nothing then.
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

    /** Copies a range of a file, but for portions that are zeros, as they are in the new file already. */
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

    /** A backup gives way to the store: what it holds back of the log may be what the disk lacks. */
    private void requireLogSpace() throws IOException {
        if (parts.provisioner.logStarved()) {
            throw new IOException("the log cannot grow (" + parts.provisioner.logProblem()
                    + "), and the backup holds parts of it back; free disk space, and begin the backup again");
        }
    }
}
