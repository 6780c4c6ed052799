package io.caravan.cluster;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.zip.CRC32C;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.server.storage.FileInfo;
import org.apache.ratis.statemachine.SnapshotInfo;
import org.jspecify.annotations.Nullable;

/**
 * The durable applied index: the position of the Raft entry up to which the store has fsynced all effects, so that the
 * Raft log up to this entry may be purged. It is written to a small file after an fsync. The file may lag behind the
 * last fsynced entry; after a restart, some frames are then replayed from the Raft log.
 *
 * <p>A received snapshot is reported to Raft only when Raft installs it. If a follower reported a snapshot earlier, the
 * leader would not send InstallSnapshot again, and the follower would wait for that message forever.
 *
 * <p>Not thread-safe, except for {@link #durable()} and the methods that Raft calls.
 */
final class AppliedIndex {
    private static final long MAGIC = 0x4B52_414D_5641_5243L;
    private static final int SUMMED_BYTES = 4 * Long.BYTES;
    private static final int BYTES = SUMMED_BYTES + Long.BYTES;
    /** The approximate number of log bytes between two tracked entries. The applied index need not be exact. */
    private static final long SPACING_BYTES = 64 * 1024;

    /** An entry, and the LSN at which its frame ends: the store's own files as a Raft snapshot. */
    record Applied(TermIndex entry, long endLsn) implements SnapshotInfo {
        @Override
        public TermIndex getTermIndex() {
            return entry;
        }

        @Override
        public List<FileInfo> getFiles() {
            return List.of();
        }
    }

    private final Path file;
    private final Deque<Applied> applied = new ArrayDeque<>();
    private volatile @Nullable Applied durable;
    /** The entry that is reported to Raft: {@link #durable}, unless Raft has not yet installed a received snapshot. */
    private volatile @Nullable Applied reported;

    private volatile boolean unreported;
    private int checksWhileUnreported;

    /** Reads the applied index from the directory, if the directory contains one. */
    AppliedIndex(Path directory) throws IOException {
        this.file = directory.resolve("applied");
        this.durable = Files.exists(file) ? read() : null;
        this.reported = durable;
    }

    private Applied read() throws IOException {
        ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(file));
        if (bytes.limit() != BYTES || bytes.getLong(0) != MAGIC || bytes.getLong(SUMMED_BYTES) != checksum(bytes)) {
            throw new IOException(
                    file + " is damaged; replace this node with a node that has another id and empty directories");
        }
        TermIndex entry = TermIndex.valueOf(bytes.getLong(Long.BYTES), bytes.getLong(2 * Long.BYTES));
        return new Applied(entry, bytes.getLong(3 * Long.BYTES));
    }

    private static long checksum(ByteBuffer bytes) {
        CRC32C crc = new CRC32C();
        crc.update(bytes.slice(0, SUMMED_BYTES));
        return crc.getValue();
    }

    /** Returns the entry up to which the store no longer needs the Raft log; null if there is none. */
    @Nullable
    Applied durable() {
        return durable;
    }

    /** Records that the store has written this entry's frame, which ends at this LSN, to its log. */
    void applied(TermIndex entry, long endLsn) {
        Applied known = durable;
        if (known != null && entry.getIndex() <= known.entry().getIndex()) {
            // The received snapshot contains this entry.
            return;
        }
        Applied last = applied.peekLast();
        if (last == null || endLsn - last.endLsn() >= SPACING_BYTES) {
            applied.addLast(new Applied(entry, endLsn));
        }
    }

    /** Records that the store's log is fsynced up to this LSN. */
    void forced(long lsn) throws IOException {
        Applied newest = null;
        while (!applied.isEmpty() && applied.getFirst().endLsn() <= lsn) {
            newest = applied.removeFirst();
        }
        if (newest != null) {
            write(newest);
            durable = newest;
            if (!unreported) {
                reported = newest;
            }
        }
    }

    /** Returns the entry that this node reports to Raft as its latest snapshot; null if there is none. */
    @Nullable
    Applied reported() {
        return reported;
    }

    /** Counts a check, on one thread only. Returns whether a snapshot has now remained uninstalled for this many. */
    boolean isOverdue(int maxChecks) {
        checksWhileUnreported = unreported ? checksWhileUnreported + 1 : 0;
        return checksWhileUnreported == maxChecks;
    }

    /** Records that Raft is installing the received snapshot. */
    void markReported() {
        reported = durable;
        unreported = false;
    }

    /** Records that the store was replaced by another store, which is fsynced and complete up to this entry. */
    void replaced(Applied entry) throws IOException {
        applied.clear();
        write(entry);
        unreported = true;
        durable = entry;
    }

    private void write(Applied newest) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(BYTES);
        bytes.putLong(0, MAGIC);
        bytes.putLong(Long.BYTES, newest.entry().getTerm());
        bytes.putLong(2 * Long.BYTES, newest.entry().getIndex());
        bytes.putLong(3 * Long.BYTES, newest.endLsn());
        bytes.putLong(SUMMED_BYTES, checksum(bytes));
        StoreDirectories.replace(file, bytes);
    }
}
