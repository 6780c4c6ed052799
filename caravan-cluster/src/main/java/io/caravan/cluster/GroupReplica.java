package io.caravan.cluster;

import io.caravan.CaravanException;
import io.caravan.DurableListStore;
import io.caravan.FrameRefusedException;
import io.caravan.OutOfSpaceException;
import io.caravan.Replica;
import io.caravan.StoreDirectoryException;
import io.caravan.StoreFailedException;
import io.caravan.VerifyReport;
import io.caravan.cluster.AppliedMark.Applied;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * This host's replica: opened anew when it fails, and replaced when files were received. Whoever calls it holds the lock of
 * {@link GroupStateMachine}, where nothing else is said.
 */
final class GroupReplica {
    private static final Logger LOG = LoggerFactory.getLogger(GroupReplica.class);
    private static final long RETRY_MILLIS = 100;

    private final GroupConfig config;
    private final AppliedMark mark;
    private final Folders folders;
    private final BooleanSupplier closing;
    private volatile Replica replica;

    /**
     * Opens the replica.
     *
     * @param closing gives up what is tried again and again
     * @throws StoreDirectoryException when the store is not the one that the mark is of
     */
    GroupReplica(GroupConfig config, AppliedMark mark, BooleanSupplier closing) throws IOException {
        this.config = config;
        this.mark = mark;
        this.closing = closing;
        this.folders = new Folders(config.store().directory());
        folders.recover();
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

    /** A store that was put back from an older copy lacks what the Raft log no longer has. */
    private void requireReached(Replica opened, Applied durable) {
        if (opened.position() < durable.endLsn()) {
            long position = opened.position();
            opened.close();
            throw new StoreDirectoryException("the store in " + config.store().directory() + " ends at LSN " + position
                    + ", but had reached " + durable.endLsn()
                    + ": it is not the one that this host had; replace the host"
                    + " by one with another id and empty folders");
        }
    }

    /** The replica as it is now; without the lock, too: it may be closed then. */
    Replica now() {
        return replica;
    }

    /**
     * Whether the store has the frame of this entry. Tries until it has: Raft counts on it. False when it is left out, as on
     * every other host, because another frame that the group has committed has its place.
     *
     * @param place of the entry, in words
     * @throws IllegalStateException when the store cannot have it, or this host is closing: nothing may be applied after it
     */
    boolean replay(String place, FrameEntry entry) {
        ByteBuffer frame = entry.frame();
        requireSameSegments(place, entry.logSegmentBytes());
        while (true) {
            try {
                replica.replay(frame);
                return true;
            } catch (FrameRefusedException refused) {
                if (!refused.placeTaken()) {
                    throw cannotApply(place, String.valueOf(refused.getMessage()), refused);
                }
                // Whoever proposed it is not waiting any more.
                LOG.warn("{}: entry {} of the group is left out", config.self(), place, refused);
                return false;
            } catch (OutOfSpaceException full) {
                LOG.warn("{}: waits for space to follow its group", config.self(), full);
            } catch (CaravanException failed) {
                LOG.error("{}: its replica has failed; opening it anew", config.self(), failed);
                reopen();
            }
            if (!retryPause()) {
                throw new IllegalStateException(config.self() + " is closing");
            }
        }
    }

    /** The entry of a frame that this host's store leads with. */
    static byte[] entry(Replica leader, ByteBuffer frame) {
        return new FrameEntry(frame, leader.logSegmentBytes()).encode();
    }

    private void requireSameSegments(String place, int leaders) {
        int own = replica.logSegmentBytes();
        if (leaders != 0 && leaders != own) {
            throw cannotApply(
                    place,
                    "log segments have " + leaders + " bytes on the host that led, and " + own
                            + " on this one: replace this host by one that is created with the same log segments",
                    null);
        }
    }

    /** A host that lacks a frame must not go on: it would lack what the group has acknowledged, and could be elected. */
    private IllegalStateException cannotApply(String place, String why, @Nullable Throwable cause) {
        return new IllegalStateException(
                "host " + config.self() + " cannot apply entry " + place
                        + ", which its group has committed, and leaves the group: " + why
                        + ". Started again, it tries again: it hears from its Raft log what it lacks",
                cause);
    }

    /** Waits a little. Returns false when the host is closing. */
    private boolean retryPause() {
        try {
            TimeUnit.MILLISECONDS.sleep(RETRY_MILLIS);
        } catch (InterruptedException hurried) {
            Thread.currentThread().interrupt();
            return false;
        }
        return !closing.getAsBoolean();
    }

    void reopen() {
        close();
        while (!closing.getAsBoolean()) {
            try {
                // A replacement that failed halfway has left no store where it is to be.
                folders.recover();
                replica = open();
                return;
            } catch (IOException | CaravanException failed) {
                LOG.error("{}: cannot open its replica; trying again", config.self(), failed);
                if (!retryPause()) {
                    return;
                }
            }
        }
    }

    void close() {
        try {
            replica.close();
        } catch (StoreFailedException known) {
            LOG.debug("{}: closed a replica that had failed", config.self(), known);
        }
    }

    /** Where files can be received. */
    Path beginIncoming() throws IOException {
        return folders.beginIncoming();
    }

    /**
     * Makes received files the store: verified first, so that the store stays as it is when they are not sound. After that
     * the store has the entry, and this host has forgotten nothing that it had before; the mark says so last.
     *
     * @throws IOException when the files cannot be the store; it is as it was
     */
    void install(Path received, Applied copied) throws IOException {
        long before = replica.position();
        // Two open stores would need twice the memory.
        close();
        try {
            requireSound(received, copied, before);
            folders.install();
            mark.replaced(copied);
        } finally {
            reopen();
        }
    }

    private void requireSound(Path received, Applied copied, long before) throws IOException {
        try {
            long position;
            // They end where they were forced: a gap in them is damage.
            try (Replica copy =
                    Replica.open(config.store().withDirectory(received), config.storeId(), Long.MAX_VALUE)) {
                copy.force();
                position = copy.position();
            }
            long needed = Math.max(before, copied.endLsn());
            if (position < needed) {
                throw new IOException("the files that were received end at LSN " + position + ", before " + needed
                        + ": this host would forget what it has acknowledged");
            }
            VerifyReport report = DurableListStore.verify(received, this::goOnUnlessClosing);
            if (!report.clean()) {
                throw new IOException(
                        "the files that were received are damaged, as those of the host that sent them may"
                                + " be; verify its store: "
                                + report.faults().get(0).getMessage());
            }
        } catch (CaravanException unusable) {
            throw new IOException("the files that were received are no store of this group: " + unusable, unusable);
        }
    }

    private void goOnUnlessClosing(String step, long done, long total) {
        if (closing.getAsBoolean()) {
            throw new StoreDirectoryException("the host is closing");
        }
    }
}
