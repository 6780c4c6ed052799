package io.caravan;

import io.caravan.engine.DedicatedThread;
import io.caravan.engine.Engine;
import io.caravan.engine.Recovery;
import io.caravan.engine.Scheduler;
import io.caravan.inspect.Verifier;
import io.caravan.io.FileStorage;
import io.caravan.io.FileStorage.Access;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.OptionalLong;

/**
 * A node's copy of the store that a replication group shares. A replica is a follower or the leader:
 *
 * <ul>
 *   <li>A follower replays the frames that the group has committed, in their order. Its log is identical to that of
 *       every other replica, byte for byte.
 *   <li>The leader is an ordinary store that first submits each frame to the group's {@link FrameReplicator}.
 * </ul>
 *
 * <p>A replica writes its own log without an fsync, because the group has the frames. After a power failure, the log
 * may end earlier than before; the group then supplies the missing frames.
 *
 * <p>A leader that must become a follower again is closed and reopened. This discards the writes that it accepted but
 * the group did not commit, because these writes were only in memory. At most one thread at a time may call the methods
 * that change the replica.
 */
public interface Replica extends AutoCloseable {
    /**
     * Opens or creates the replica in the config's directory. The replica is a follower until {@link #lead} is called.
     *
     * @param config the settings, with {@link Durability#PROCESS}. The log segment size must be the same on every node
     *     of the group, and a heap segment must be large enough for any value of the group; other settings may differ
     * @param storeId the id that all replicas of the group share and no other store has
     * @param fsyncedLsn a {@link #fsyncedPosition()} recorded earlier; 0 if none is known. After this position, a power
     *     failure may have removed some frames and kept later frames. The log then ends at the gap, at {@link
     *     #position()}
     * @throws StoreDirectoryException if the directory contains another store; nothing was changed
     * @throws CorruptStoreException if an fsynced frame is damaged; nothing was changed
     * @see DurableListStore#open(StoreConfig) the other errors
     */
    static Replica open(StoreConfig config, long storeId, long fsyncedLsn) {
        if (config.durability() != Durability.PROCESS) {
            throw new IllegalArgumentException(
                    "a replica has durability PROCESS, as its group makes writes durable; was " + config.durability());
        }
        return DedicatedThread.call(
                "open " + config.directory(),
                () -> Engine.openReplica(
                        config,
                        FileStorage.open(config.directory(), Access.CREATE, Recovery::requireKnown),
                        System::nanoTime,
                        Scheduler.THREADS,
                        storeId,
                        fsyncedLsn));
    }

    /**
     * Verifies the closed replica in the directory, as {@link DurableListStore#verify(Path, VerifyReport.Progress)}
     * verifies a store. A gap after the fsynced part of the log is not a fault: the log ends at the gap, and the node
     * receives the missing frames again.
     *
     * @param fsyncedLsn as for {@link #open}
     * @throws StoreLockedException if the replica is open
     * @throws StoreDirectoryException if the directory contains no store
     */
    static VerifyReport verify(Path directory, long fsyncedLsn, VerifyReport.Progress progress) {
        return DedicatedThread.call(
                "verify " + directory, () -> Verifier.verifyClosed(directory, OptionalLong.of(fsyncedLsn), progress));
    }

    /**
     * Returns the replica's store, which may be read at any time. Reads return only writes that the group has
     * committed. Writes are rejected with {@link NotLeaderException} until the replica leads.
     */
    DurableListStore store();

    /** Returns the LSN of the next frame: the first position after the replica's log. */
    long position();

    /**
     * Replays a frame that the group has committed. Returns once the frame has a place in the log. The frame's writes
     * become visible shortly afterwards, once the frame is written. Waits while the previous frame is being written.
     *
     * @param frame header and records, as passed to {@link FrameReplicator#commit}
     * @return whether the frame was new; false if the replica already had it
     * @throws FrameRejectedException if the frame cannot be replayed. Nothing was changed, unless the frame contradicts
     *     the replica's contents: in this case, the store has failed
     * @throws OutOfSpaceException if the disk has no space for the frame; try again once space is available
     * @throws StoreFailedException if the replica's files have failed; reopen the replica
     */
    boolean replay(ByteBuffer frame);

    /**
     * Returns the size of a log segment in bytes. The size was fixed when the replica was created, and is the same on
     * every node of the group.
     */
    int logSegmentBytes();

    /**
     * Makes the replica the group's leader, which accepts writes. Call this only after every committed frame has been
     * replayed.
     */
    void lead(FrameReplicator group);

    /** Fsyncs the log. Returns the position up to which this node's files are complete, even after a power failure. */
    long fsync();

    /** Returns the position up to which the log is known to be fsynced. Does not fsync. */
    long fsyncedPosition();

    /** Receives a copy of a replica's files, chunk by chunk. */
    @FunctionalInterface
    interface Chunks {
        /**
         * Receives the next chunk, which is at most a few bytes larger than 1 MiB. Waits while the receiver has no
         * space.
         *
         * @param chunk valid only until this returns
         * @throws IOException if the receiver does not accept further chunks
         */
        void receive(ByteBuffer chunk) throws IOException;
    }

    /**
     * Sends a copy of this replica's files while the replica is in use, as {@link DurableListStore#backup} does for a
     * store. The copy contains everything up to the LSN in the report, and nothing later. {@link SnapshotInstaller}
     * receives the chunks.
     *
     * @throws StoreIoException if the receiver does not accept further chunks, or the log has no space to grow during
     *     the copy
     * @throws StoreClosedException if the replica is closed during the copy
     */
    BackupReport send(Chunks chunks, BackupReport.Progress progress);

    /** Closes the replica's store; see {@link DurableListStore#close()}. */
    @Override
    void close();
}
