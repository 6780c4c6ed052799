package io.caravan.cluster;

import io.caravan.CaravanException;
import io.caravan.DurableListStore;
import io.caravan.FrameRejectedException;
import io.caravan.OutOfSpaceException;
import io.caravan.Replica;
import io.caravan.StoreDirectoryException;
import io.caravan.StoreFailedException;
import io.caravan.VerifyReport;
import io.caravan.cluster.AppliedIndex.Applied;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Manages this node's replica of the store: reopens it after a failure, and replaces it with a received snapshot.
 * Callers hold the lock of {@link GroupStateMachine} unless a method states otherwise.
 */
final class GroupReplica {
    private static final Logger LOG = LoggerFactory.getLogger(GroupReplica.class);
    private static final long RETRY_NANOS = 100_000_000;

    private final GroupConfig config;
    private final AppliedIndex mark;
    private final StoreDirectories directories;
    private final BooleanSupplier closing;
    private volatile Replica replica;

    /**
     * Opens this node's replica; {@code closing} returns whether to end retries.
     *
     * @throws StoreDirectoryException if the applied index belongs to another store
     */
    GroupReplica(GroupConfig config, AppliedIndex mark, BooleanSupplier closing) throws IOException {
        this.config = config;
        this.mark = mark;
        this.closing = closing;
        this.directories = new StoreDirectories(config.store().directory());
        directories.recover();
        this.replica = open();
    }

    private Replica open() {
        Applied durable = mark.durable();
        Replica opened = Replica.open(config.store(), config.storeId(), durable == null ? 0 : durable.endLsn());
        if (durable != null) {
            requireReached(opened, durable);
        }
        return opened;
    }

    /** Rejects a store restored from an older copy, which lacks entries that the Raft log no longer has. */
    private void requireReached(Replica opened, Applied durable) {
        if (opened.position() < durable.endLsn()) {
            long position = opened.position();
            opened.close();
            throw new StoreDirectoryException("the store in " + config.store().directory() + " ends at LSN " + position
                    + ", but had reached LSN " + durable.endLsn()
                    + ": it is not the store that this node had; replace the node"
                    + " with a node that has another id and empty directories");
        }
    }

    /** Returns the current replica. A caller without the lock may find it closed. */
    Replica now() {
        return replica;
    }

    /**
     * Replays the frame of a Raft entry on this node's replica. Retries until the store contains the frame, because
     * Raft relies on that, and then returns true. Returns false if another committed frame occupies the frame's
     * position: every node then skips the entry.
     *
     * @param place a description of the entry's place, for messages
     * @throws IllegalStateException if no later entry may be applied: the store cannot apply this one, or is closing
     */
    boolean replay(String place, FrameEntry entry) {
        ByteBuffer frame = entry.frame();
        requireSameSegments(place, entry.logSegmentBytes());
        while (true) {
            try {
                replica.replay(frame);
                return true;
            } catch (FrameRejectedException rejected) {
                if (!rejected.placeTaken()) {
                    throw cannotApply(place, String.valueOf(rejected.getMessage()), rejected);
                }
                // The proposer of the frame is no longer waiting.
                LOG.warn("{}: skips entry {} of the Raft group", config.self(), place, rejected);
                return false;
            } catch (OutOfSpaceException full) {
                LOG.warn("{}: the disk is full; waits for space before it applies more entries", config.self(), full);
            } catch (CaravanException failed) {
                if (!tryReopenAfter(failed)) {
                    reopen();
                }
            }
            if (!retryPause()) {
                throw new IllegalStateException(config.self() + " is closing");
            }
        }
    }

    private void requireSameSegments(String place, int leaders) {
        int own = replica.logSegmentBytes();
        if (leaders != own) {
            throw cannotApply(
                    place,
                    "the log segments of the leader have " + leaders + " bytes, and those of this node have " + own
                            + ": replace this node with a node that is created with the same segment size",
                    null);
        }
    }

    /** Makes this node leave the group, because it would lack acknowledged writes, but could be elected. */
    private IllegalStateException cannotApply(String place, String why, @Nullable Throwable cause) {
        return new IllegalStateException(
                "node " + config.self() + " cannot apply entry " + place
                        + ", which its group has committed, and leaves the group: " + why
                        + ". Restart the node: it then applies the missing entries from its Raft log",
                cause);
    }

    /** Pauses, and returns whether to retry. */
    private boolean retryPause() {
        LockSupport.parkNanos(RETRY_NANOS);
        return !closing.getAsBoolean() && !Thread.currentThread().isInterrupted();
    }

    /** Closes the replica, and tries once to open it again. Returns whether it is open. */
    boolean tryReopenAfter(CaravanException failure) {
        LOG.error("{}: its replica has failed; opening it again", config.self(), failure);
        close();
        return tryOpen();
    }

    /** Closes and reopens the replica. Retries until the replica is open or the node is closing. */
    void reopen() {
        close();
        while (!closing.getAsBoolean() && !tryOpen()) {
            if (!retryPause()) {
                return;
            }
        }
    }

    private boolean tryOpen() {
        try {
            // A replacement that failed halfway has left no store in the store's directory.
            directories.recover();
            replica = open();
            return true;
        } catch (IOException | CaravanException failed) {
            LOG.error("{}: cannot open its replica; tries again", config.self(), failed);
            return false;
        }
    }

    void close() {
        try {
            replica.close();
        } catch (StoreFailedException known) {
            LOG.debug("{}: closed a replica that had failed", config.self(), known);
        }
    }

    Path beginIncoming() throws IOException {
        return directories.beginIncoming();
    }

    /**
     * Verifies received files, and installs them as the store. If they are damaged, the store stays unchanged. After
     * the installation, the store contains everything up to {@code copied}, including the contents of the previous
     * store. The applied index is written last.
     *
     * @throws IOException if the files cannot become the store
     */
    void install(Path received, Applied copied) throws IOException {
        long before = replica.position();
        // Two open stores would need twice the memory.
        close();
        try {
            requireSound(received, copied, before);
            directories.install();
            mark.replaced(copied);
        } finally {
            reopen();
        }
    }

    private void requireSound(Path received, Applied copied, long before) throws IOException {
        try {
            long position;
            // The received files were fsynced, so a gap is damage.
            try (Replica copy =
                    Replica.open(config.store().withDirectory(received), config.storeId(), Long.MAX_VALUE)) {
                copy.fsync();
                position = copy.position();
            }
            long needed = Math.max(before, copied.endLsn());
            if (position < needed) {
                throw new IOException("the received snapshot ends at LSN " + position + ", before " + needed
                        + ": this node would lose writes that it has acknowledged");
            }
            VerifyReport report = DurableListStore.verify(received, this::failIfClosing);
            if (!report.clean()) {
                throw new IOException("the received snapshot is damaged; the store of the node that sent it may be"
                        + " damaged too, so verify that store: "
                        + report.faults().get(0).getMessage());
            }
        } catch (CaravanException unusable) {
            throw new IOException("the received snapshot is not a store of this group: " + unusable, unusable);
        }
    }

    private void failIfClosing(String step, long done, long total) {
        if (closing.getAsBoolean()) {
            throw new StoreDirectoryException("the node is closing");
        }
    }
}
