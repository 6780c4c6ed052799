package io.caravan.engine;

import io.caravan.BackupReport;
import io.caravan.Replica;
import io.caravan.checkpoint.CheckpointHeader;
import io.caravan.format.Blocks;
import io.caravan.format.FileNames;
import io.caravan.io.Storage;
import io.caravan.io.StoreFile;
import io.caravan.wal.LogGeometry;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Copies an open store while writes, trims, and checkpoints continue, and sends the copy as chunks to a receiver, such
 * as {@link ChunkFiles}. The copy contains the durable state of the store at one log position, E, which the log reaches
 * after the heap has been copied.
 *
 * <p>docs/internals/checkpoints.md describes the steps, and why heap places may be reused during the copy. Use this
 * class on one thread, which must be neither a store thread nor interrupted.
 */
final class Backup {
    private static final int PORTION_BYTES = 1 << 20;

    private final Engine engine;
    private final Storage from;
    private final Replica.Chunks to;
    private final BackupReport.Progress progress;
    private final ByteBuffer chunk =
            ByteBuffer.allocateDirect(ChunkFiles.HEAD_BYTES + PORTION_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    private final ByteBuffer portion = chunk.slice(ChunkFiles.HEAD_BYTES, PORTION_BYTES);
    private final ByteBuffer zeros = ByteBuffer.allocateDirect(PORTION_BYTES);
    private int files;
    private long bytes;
    private long copied;
    private long total;

    Backup(Engine engine, Replica.Chunks to, BackupReport.Progress progress) {
        this.engine = engine;
        this.from = engine.state.storage;
        this.to = to;
        this.progress = progress;
    }

    /** Makes the backup. */
    BackupReport run() throws IOException {
        Start start = publishCheckpoint();
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
        // Every trim that has freed a place lies before this position.
        long end = engine.fsync();
        copyLog(checkpoint, end);
        // The lease is valid only while the store is open. Once it is closed, another process may recycle the copied
        // files.
        engine.state.checkWritable();
        return new BackupReport(end, checkpoint.number(), files, bytes);
    }

    /**
     * The checkpoint to copy and the lease on its files. The open file stays readable if a later checkpoint deletes it.
     */
    private record Start(CheckpointHeader checkpoint, StoreFile checkpointFile, Provisioner.Lease lease) {}

    /** Publishes a checkpoint and takes the lease in one checkpointer task, so that no file is removed in between. */
    private Start publishCheckpoint() {
        AtomicReference<Start> begun = new AtomicReference<>();
        engine.onCheckpointer(() -> {
            engine.checkpointer.publish();
            CheckpointHeader newest = engine.checkpointer.newest();
            long firstLog = engine.state.geometry.segmentOf(newest.startLsn());
            Provisioner.Lease lease = new Provisioner.Lease(firstLog, newest.heapSegments());
            StoreFile file = from.open(FileNames.CHECKPOINT.of(newest.number()));
            engine.provisioner.take(lease);
            begun.set(new Start(newest, file, lease));
        });
        return Objects.requireNonNull(begun.get());
    }

    private void copyWhole(StoreFile source, String name) throws IOException {
        long size = source.size();
        try (Closeable end = begin(name, 0, size)) {
            portion.put(0, (byte) 0);
            send(ChunkFiles.CONTENT, size - 1, 1);
            copy(source, 0, size);
        }
    }

    private void copyLog(CheckpointHeader start, long end) throws IOException {
        LogGeometry geometry = engine.state.geometry;
        // If the last segment is full, the end lies in the next segment, which has no frames yet.
        long last = geometry.segmentOf(Math.max(start.startLsn(), end - Blocks.BLOCK_BYTES - 1));
        total += end - start.startLsn();
        for (long segment = geometry.segmentOf(start.startLsn()); segment <= last; segment++) {
            String name = FileNames.LOG.of(segment);
            long first = Math.max(start.startLsn(), geometry.firstFrame(segment));
            long behind = Math.max(first, Math.min(end, geometry.startOf(segment + 1)));
            try (StoreFile source = from.open(name);
                    Closeable fileEnd = begin(name, start.logSegmentBytes(), start.logSegmentBytes())) {
                copy(source, 0, Blocks.BLOCK_BYTES);
                copy(source, first - geometry.startOf(segment), behind - geometry.startOf(segment));
            }
        }
    }

    /** Begins to send a file. Closing the result ends the file. */
    private Closeable begin(String name, int allocatedBytes, long size) throws IOException {
        files++;
        bytes += size;
        byte[] utf8 = name.getBytes(StandardCharsets.UTF_8);
        portion.put(0, utf8);
        send(ChunkFiles.NEW_FILE, allocatedBytes, utf8.length);
        return () -> send(ChunkFiles.END_OF_FILE, 0, 0);
    }

    /** Sends a chunk whose content is at the start of {@code portion}. */
    private void send(byte kind, long number, int contentBytes) throws IOException {
        to.receive(chunk.clear().put(0, kind).putLong(1, number).limit(ChunkFiles.HEAD_BYTES + contentBytes));
    }

    /** Copies a range of a file. Skips ranges of zeros, because the new file has zeros there already. */
    private void copy(StoreFile source, long first, long end) throws IOException {
        for (long at = first; at < end; at += PORTION_BYTES) {
            int wanted = (int) Math.min(PORTION_BYTES, end - at);
            int read = source.read(portion.clear().limit(wanted), at);
            if (read < wanted) {
                throw new IOException(source.path() + " ends at offset " + (at + read) + ", before its " + end
                        + " bytes; verify the store");
            }
            if (!portion.flip().equals(zeros.clear().limit(wanted))) {
                send(ChunkFiles.CONTENT, at, wanted);
            }
            copied += wanted;
            requireLogSpace();
            progress.at(copied, Math.max(total, copied));
        }
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
