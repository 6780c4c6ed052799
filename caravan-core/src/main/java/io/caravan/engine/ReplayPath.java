package io.caravan.engine;

import io.caravan.Durability;
import io.caravan.FrameRejectedException;
import io.caravan.format.Blocks;
import io.caravan.format.EntryLayout;
import io.caravan.format.FrameLayout;
import io.caravan.format.InvalidRecordException;
import io.caravan.format.RecordLayout;
import io.caravan.format.Region;
import io.caravan.index.ListIndex;
import io.caravan.wal.LogGeometry;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Replays a leader's frames in a replica. A frame is first checked for every possible fault. Then, under the lock, it
 * is placed at the LSN that it had on the leader, and its records change the index in the same way as {@link WritePath}
 * did on the leader. The flusher writes the same bytes.
 */
final class ReplayPath {
    private final StoreState state;
    private final CommitQueue queue;
    private final WritePath writes;
    private final LogGeometry geometry;
    /** The link to the frame that the next frame must follow. Guarded by the store's lock. */
    private FrameLayout.Link last;

    ReplayPath(StoreState state, CommitQueue queue, WritePath writes, FrameLayout.Link last) {
        this.state = state;
        this.queue = queue;
        this.writes = writes;
        this.geometry = state.geometry;
        this.last = last;
    }

    /** Replays a leader's frame. Returns whether the frame was new. */
    boolean replay(ByteBuffer bytes) {
        ByteBuffer frame = bytes.slice().order(ByteOrder.LITTLE_ENDIAN);
        requireValid(frame);
        if (entered(frame)) {
            return true;
        }
        state.committed.await(end(frame));
        requireSame(frame);
        return false;
    }

    /** Adds the frame to the log unless the log already extends past it. Returns whether the frame was added. */
    private boolean entered(ByteBuffer frame) {
        return state.locked(() -> {
            state.checkWritable();
            if (!state.follows()) {
                throw new IllegalStateException(state.name() + " leads: it does not replay frames of other replicas");
            }
            queue.awaitEmpty();
            if (geometry.positionAfter(end(frame)) <= queue.tail()) {
                return false;
            }
            requireFollows(frame);
            enter(queue.placeAt(lsn(frame)), frame);
            queue.requireFlush();
            return true;
        });
    }

    private static long lsn(ByteBuffer frame) {
        return frame.getLong(FrameLayout.LSN);
    }

    private static long end(ByteBuffer frame) {
        return lsn(frame) + frame.limit();
    }

    private void requireValid(ByteBuffer frame) {
        if (frame.limit() < FrameLayout.HEADER_BYTES) {
            throw new FrameRejectedException(
                    state.name() + ": a frame of " + frame.limit() + " bytes is shorter than its header", false);
        }
        long lsn = lsn(frame);
        long segment = geometry.segmentOf(lsn);
        boolean placed = lsn >= geometry.firstFrame(segment)
                && lsn % Blocks.BLOCK_BYTES == 0
                && frame.limit() <= geometry.remaining(lsn);
        if (!placed) {
            throw rejected(
                    frame,
                    "log segments have " + geometry.segmentBytes() + " bytes here, and there is no space for "
                            + frame.limit() + " bytes there");
        }
        boolean whole = frame.getInt(FrameLayout.PAYLOAD_BYTES) == frame.limit() - FrameLayout.HEADER_BYTES
                && FrameLayout.valid(frame, 0, state.storeId, lsn);
        if (!whole) {
            throw rejected(frame, "it is damaged, or of another store than " + Long.toHexString(state.storeId));
        }
        try {
            RecordLayout.forEachInFrame(frame, 0, lsn, this::requireFits);
        } catch (InvalidRecordException invalid) {
            throw rejected(frame, String.valueOf(invalid.getMessage()));
        }
    }

    /** Checks that the appended value fits in a heap segment, to which it moves if it survives until a checkpoint. */
    private void requireFits(
            long lsn, long id, long sequence, long entryLsn, ByteBuffer buffer, int entryAt, int length) {
        if (EntryLayout.entryBytes(length) > state.heapFile.geometry().usableBytes()) {
            throw new InvalidRecordException(
                    lsn, id, sequence, "a heap segment here has no space for a value of " + length + " bytes");
        }
    }

    /**
     * Checks that a frame received again equals the frame in the log, if the log still contains it. A copied log has
     * zeros before its first frame.
     */
    private void requireSame(ByteBuffer frame) {
        ByteBuffer own = ByteBuffer.allocate(FrameLayout.HEADER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        if (state.log.copy(lsn(frame), own, FrameLayout.HEADER_BYTES)
                && own.getInt(FrameLayout.CRC) != frame.getInt(FrameLayout.CRC)
                && !own.flip().equals(ByteBuffer.allocate(FrameLayout.HEADER_BYTES))) {
            throw rejected(frame, "the log has another frame there", true);
        }
    }

    /**
     * Checks that the frame follows the last frame, at the tail or at the start of the next segment. The leader starts
     * a new segment if the tail's segment lacks space for all records that the frame's first write may need. The write
     * may need fewer, because a trim that changes nothing has no record. A frame that follows an earlier frame comes
     * too late: another frame already follows that earlier frame.
     */
    private void requireFollows(ByteBuffer frame) {
        long tail = queue.tail();
        long previous = frame.getLong(FrameLayout.PREVIOUS_LSN);
        boolean placed = lsn(frame) == tail || lsn(frame) == queue.nextSegment();
        if (!placed || previous != last.lsn()) {
            String why = "it follows the frame at LSN " + previous + ", but the last here is at " + last.lsn()
                    + ", and the log ends at " + tail;
            throw rejected(frame, why, previous < last.lsn());
        }
        if (!FrameLayout.follows(frame, 0, last)) {
            throw rejected(
                    frame,
                    "the frame before it, at LSN " + previous
                            + ", is another one here: the replicas differ; verify both"
                            + " stores, and replace the node whose store differs from that of the majority");
        }
    }

    private FrameRejectedException rejected(ByteBuffer frame, String why) {
        return rejected(frame, why, false);
    }

    private FrameRejectedException rejected(ByteBuffer frame, String why, boolean placeTaken) {
        return new FrameRejectedException(
                state.name() + ": frame at LSN " + lsn(frame) + " is rejected: " + why, placeTaken);
    }

    /**
     * Applies the records of a checked frame. If one contradicts the index, the replicas differ, and the store fails.
     */
    private void enter(Commit commit, ByteBuffer frame) {
        try {
            commit.frame().fill(frame);
            last = FrameLayout.link(frame, 0);
            commit.require(Durability.SYNC);
            RecordLayout.forEachInFrame(frame, 0, lsn(frame), new Repeat());
        } catch (InvalidRecordException differs) {
            state.fail(differs);
            throw rejected(frame, "the replicas differ: " + differs.getMessage());
        } catch (RuntimeException | Error broken) {
            throw state.fail(broken);
        }
    }

    private final class Repeat implements RecordLayout.Visitor {
        @Override
        public void append(
                long lsn, long id, long sequence, long entryLsn, ByteBuffer buffer, int entryAt, int length) {
            int list = state.index.findOrCreate(id, lsn, 0);
            long next = state.index.next(list);
            if (next != sequence) {
                throw new InvalidRecordException(lsn, id, sequence, "the replica's list has " + next + " as its next");
            }
            writes.applyAppend(list, Region.inLog(entryLsn, length), length, lsn);
            queue.countInReserve(RecordLayout.appendBytes(length));
        }

        @Override
        public void trim(long lsn, long id, long firstSequence) {
            state.counters.writes(id).trims++;
            writes.applyTrim(existing(lsn, id), firstSequence, lsn);
        }

        @Override
        public void delete(long lsn, long id) {
            state.counters.writes(id).deletes++;
            writes.applyDelete(existing(lsn, id), lsn);
        }

        private int existing(long lsn, long id) {
            int list = state.index.find(id);
            if (list == ListIndex.NONE) {
                throw new InvalidRecordException(lsn, id, 0, "the replica has no such list");
            }
            return list;
        }
    }
}
