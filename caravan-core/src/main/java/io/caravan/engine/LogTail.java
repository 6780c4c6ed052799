package io.caravan.engine;

import io.caravan.OutOfSpaceException;
import io.caravan.format.FrameLayout;
import io.caravan.wal.LogBuffer;
import io.caravan.wal.LogGeometry;
import io.caravan.wal.LogScanner;

/**
 * Where the sealed frames end, and where the next one goes: behind the frame before it, or at the start of the next
 * segment when its first record would not fit. An append needs one more ready segment behind the frame's: that one is
 * the reserve with which trims and deletes go on when the disk is full. Only the reserve's front is for appends too: once
 * the log has gone on to it, checkpoints can free the segment before it. Guarded by the store's lock.
 */
final class LogTail {
    private final String storeName;
    private final Provisioner provisioner;
    private final LogGeometry geometry;
    private long position;
    private long lastSealedLsn;

    LogTail(String storeName, Provisioner provisioner, LogGeometry geometry, LogScanner.End end) {
        this.storeName = storeName;
        this.provisioner = provisioner;
        this.geometry = geometry;
        this.position = end.position();
        this.lastSealedLsn = end.last().lsn();
    }

    /** Where the frames sealed so far end. */
    long position() {
        return position;
    }

    /** Where the frame behind this one goes. */
    long positionBehind(LogBuffer frame) {
        return geometry.positionAfter(frame.endLsn());
    }

    /** LSN of the last frame that was sealed. */
    long lastSealedLsn() {
        return lastSealedLsn;
    }

    /** The most that the records of one frame can take that is put together in this commit. */
    int maxRecordBytes(Commit commit) {
        return geometry.maxRecordBytes(commit.frame().capacityBytes() + FrameLayout.HEADER_BYTES);
    }

    /** Whether there is a segment behind the frame's, which an append needs and which releasing space does not. */
    boolean admits(Commit commit, boolean releases) {
        return releases
                || provisioner.lastReadySegment() > commit.segment()
                || geometry.isInFront(commit.frame().baseLsn());
    }

    /**
     * Gives an empty commit its place, with room for so many bytes of records; false when the segment is not ready yet.
     *
     * @throws OutOfSpaceException when the disk has no space for the segment
     */
    boolean place(Commit commit, int bytes, boolean releases) {
        long lsn = position;
        if (bytes + FrameLayout.HEADER_BYTES > geometry.remaining(lsn)) {
            lsn = nextSegment();
        }
        return placeAt(commit, lsn, releases);
    }

    /** Where the first frame of the next segment goes. */
    long nextSegment() {
        return geometry.firstFrame(geometry.segmentOf(position) + 1);
    }

    /** Gives an empty commit this place, as {@link #place} does: the tail's, or the next segment's first. */
    boolean placeAt(Commit commit, long lsn, boolean releases) {
        long segment = geometry.segmentOf(lsn);
        boolean needsNext = !releases && !geometry.isInFront(lsn);
        if (provisioner.lastReadySegment() < (needsNext ? segment + 1 : segment)) {
            if (provisioner.logStarved()) {
                throw new OutOfSpaceException(storeName + " cannot make its next log segment: "
                        + provisioner.logProblem() + "; " + Remedy.of(provisioner.logProblem())
                        + "; appends resume by themselves");
            }
            provisioner.wake();
            return false;
        }
        commit.frame().place(lsn, geometry);
        commit.placedIn(segment);
        provisioner.enteredSegment(segment);
        return true;
    }

    /** A frame was sealed: the next one goes behind it. */
    void sealed(LogBuffer frame) {
        position = positionBehind(frame);
        lastSealedLsn = frame.baseLsn();
        // A segment that is full to its last byte is left here, not when the next frame is placed: nobody may place one
        // before the segments behind the tail are ready.
        provisioner.enteredSegment(geometry.segmentOf(position));
    }

    /** Whether an append would most likely find its segments ready, or be refused, but not wait for them. */
    boolean writable() {
        return provisioner.lastReadySegment() > geometry.segmentOf(position) + 1 || provisioner.logStarved();
    }
}
