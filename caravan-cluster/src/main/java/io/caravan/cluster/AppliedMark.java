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
 * Up to which Raft entry this host's store needs the Raft log no more, because the store's own files have everything,
 * forced. Kept in a small file, written after that force: an old one only means that some frames are heard again.
 *
 * <p>Raft is told of files that were received when it takes them over, and not before: a follower that seems to have them
 * is not asked whether it has, and Raft then waits for that question for ever.
 *
 * <p>For one thread, but for {@link #durable()} and what Raft asks.
 */
final class AppliedMark {
    private static final long MAGIC = 0x4B52_414D_5641_5243L;
    private static final int SUMMED_BYTES = 4 * Long.BYTES;
    private static final int BYTES = SUMMED_BYTES + Long.BYTES;
    /** Marks need not be exact: one for so much log is kept. */
    private static final long SPACING_BYTES = 64 * 1024;

    /** An entry, and where its frame ends in the store's log. The store's own files are what Raft calls a snapshot. */
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
    /** The same as {@link #durable}, unless files were received that Raft has not taken over. */
    private volatile @Nullable Applied told;

    private volatile boolean untold;
    private int looksWhileUntold;

    /** Reads the mark that the directory has, if any. */
    AppliedMark(Path directory) throws IOException {
        this.file = directory.resolve("applied");
        this.durable = Files.exists(file) ? read() : null;
        this.told = durable;
    }

    private Applied read() throws IOException {
        ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(file));
        if (bytes.limit() != BYTES || bytes.getLong(0) != MAGIC || bytes.getLong(SUMMED_BYTES) != checksum(bytes)) {
            throw new IOException(file + " is damaged; replace this host by one with another id and empty folders");
        }
        TermIndex entry = TermIndex.valueOf(bytes.getLong(Long.BYTES), bytes.getLong(2 * Long.BYTES));
        return new Applied(entry, bytes.getLong(3 * Long.BYTES));
    }

    private static long checksum(ByteBuffer bytes) {
        CRC32C crc = new CRC32C();
        crc.update(bytes.slice(0, SUMMED_BYTES));
        return crc.getValue();
    }

    /** The entry up to which the Raft log is needed no more, or null. */
    @Nullable
    Applied durable() {
        return durable;
    }

    /** The store has taken the frame of an entry, which ends at this position of its log. */
    void applied(TermIndex entry, long endLsn) {
        Applied known = durable;
        if (known != null && entry.getIndex() <= known.entry().getIndex()) {
            // Files that were received have it.
            return;
        }
        Applied last = applied.peekLast();
        if (last == null || endLsn - last.endLsn() >= SPACING_BYTES) {
            applied.addLast(new Applied(entry, endLsn));
        }
    }

    /** The store's log is forced up to this position. */
    void forced(long lsn) throws IOException {
        Applied newest = null;
        while (!applied.isEmpty() && applied.getFirst().endLsn() <= lsn) {
            newest = applied.removeFirst();
        }
        if (newest != null) {
            write(newest);
            durable = newest;
            if (!untold) {
                told = newest;
            }
        }
    }

    /** What Raft may know of this host's files. */
    @Nullable
    Applied told() {
        return told;
    }

    /** Looks, and says whether files were received so many looks ago, and Raft has not taken them over. For one thread. */
    boolean isForgotten(int patience) {
        looksWhileUntold = untold ? looksWhileUntold + 1 : 0;
        return looksWhileUntold == patience;
    }

    /** Raft takes over the files that were received. */
    void tell() {
        told = durable;
        untold = false;
    }

    /** The store was replaced by one that has everything up to this entry, forced. */
    void replaced(Applied entry) throws IOException {
        applied.clear();
        write(entry);
        untold = true;
        durable = entry;
    }

    private void write(Applied newest) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(BYTES);
        bytes.putLong(0, MAGIC);
        bytes.putLong(Long.BYTES, newest.entry().getTerm());
        bytes.putLong(2 * Long.BYTES, newest.entry().getIndex());
        bytes.putLong(3 * Long.BYTES, newest.endLsn());
        bytes.putLong(SUMMED_BYTES, checksum(bytes));
        Folders.replace(file, bytes);
    }
}
