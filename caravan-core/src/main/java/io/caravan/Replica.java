package io.caravan;

import io.caravan.engine.Engine;
import io.caravan.engine.OwnThread;
import io.caravan.engine.Threading;
import io.caravan.inspect.Verifier;
import io.caravan.io.FileStorage;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Objects;

/**
 * One host's copy of a store that a group of hosts keeps. It follows: it repeats the frames that the group has
 * committed, in their order, and has the same log as every other replica, byte for byte. Or it leads: then it is an
 * ordinary store that hands each frame to the group's {@link CommitLog} first.
 *
 * <p>A replica writes its own log without forcing it, because the group has the frames. After a power cut its log may
 * end earlier than it did: the group brings what is missing. {@link #force} says up to where it needs nobody.
 *
 * <p>A replica that has led and must follow again is closed and opened anew: what it accepted and the group did not
 * commit is then gone with its memory. The methods that change it are called by one thread at a time.
 */
public final class Replica implements AutoCloseable {
    private final Engine engine;

    private Replica(Engine engine) {
        this.engine = engine;
    }

    /**
     * Opens or creates the replica in the config's directory. It follows, until it is told to {@link #lead}.
     *
     * @param config of {@link Durability#PROCESS}; the sizes of its log segments must be the same on every
     *     host of the group, and its heap segments must hold any value of the group; other settings may differ
     * @param storeId what all replicas of the group, and no other store, are called
     * @param forcedLsn what {@link #forcedPosition()} was known to be before; 0 when nothing is known. A power cut may
     *     have taken any frame behind it and left later ones: the log then ends at the gap, and {@link #position()} says
     *     where
     * @throws StoreDirectoryException when the directory holds another store; nothing was changed
     * @throws CorruptStoreException when a frame that was forced is damaged; nothing was changed
     * @see DurableListStore#open(StoreConfig) the other errors
     */
    public static Replica open(StoreConfig config, long storeId, long forcedLsn) {
        if (config.durability() != Durability.PROCESS) {
            throw new IllegalArgumentException(
                    "a replica has durability PROCESS, as its group makes writes durable; was " + config.durability());
        }
        return new Replica(OwnThread.call(
                "open " + config.directory(),
                () -> Engine.openReplica(
                        config,
                        FileStorage.openOrCreate(config.directory()),
                        System::nanoTime,
                        Threading.THREADS,
                        storeId,
                        forcedLsn)));
    }

    /**
     * Reads every byte of the closed replica in the directory, as {@link DurableListStore#verify(Path,
     * VerifyReport.Progress)} does of a store. A gap behind what was forced is no fault: the log ends there, and the host
     * hears the rest again.
     *
     * @param forcedLsn as for {@link #open}
     * @throws StoreLockedException when it is open
     * @throws StoreDirectoryException when there is no store
     */
    public static VerifyReport verify(Path directory, long forcedLsn, VerifyReport.Progress progress) {
        return OwnThread.call("verify " + directory, () -> Verifier.verifyReplica(directory, forcedLsn, progress));
    }

    /**
     * The store, to read from at any time; what is read was committed by the group. Writes are refused with {@link
     * NotLeaderException} until the replica leads.
     */
    public DurableListStore store() {
        return engine;
    }

    /** Where the next frame goes: the first log position behind what the replica has. */
    public long position() {
        return engine.position();
    }

    /**
     * Repeats a frame that the group has committed. Returns when it has its place; what it did is seen once it is
     * written to the log, very soon. Waits while the frame before is being written.
     *
     * @param frame header and records, as {@link CommitLog#commit} got them
     * @return whether it was new; false when the replica had it already
     * @throws FrameRefusedException when it cannot be repeated; nothing was changed, unless it contradicts the contents:
     *     then the store has failed
     * @throws OutOfSpaceException when the disk has no room for it; try again when it has
     * @throws StoreFailedException when the replica's files have failed; open it anew
     */
    public boolean replay(ByteBuffer frame) {
        return engine.replay(frame);
    }

    /** The size of a log segment, in bytes, as the replica was created: the same on every host of the group. */
    public int logSegmentBytes() {
        return engine.logSegmentBytes();
    }

    /** Makes the replica the group's leader, and thereby writable, when every committed frame has been repeated. */
    public void lead(CommitLog group) {
        engine.lead(Objects.requireNonNull(group, "group"));
    }

    /** Forces the log. Returns the position up to which this host's files have everything, whatever happens. */
    public long force() {
        return engine.force();
    }

    /** Up to where the log is known to be forced, without forcing it. */
    public long forcedPosition() {
        return engine.forcedLsn();
    }

    /** Where the pieces of a replica's files go. */
    @FunctionalInterface
    public interface Pieces {
        /**
         * Takes the next piece, of a mebibyte and a few bytes at most; waits while there is no room.
         *
         * @param piece only until this returns
         * @throws IOException when nobody wants any more
         */
        void take(ByteBuffer piece) throws IOException;
    }

    /**
     * Sends a copy of this replica's files while it is used, as {@link DurableListStore#backup} makes one: it has
     * everything up to the returned position, and nothing that came later. {@link ReplicaCopy} takes the pieces.
     *
     * @throws StoreIoException when the pieces are not wanted any more, or the log has no space to grow meanwhile
     * @throws StoreClosedException when the replica is closed meanwhile
     */
    public BackupReport send(Pieces pieces, BackupReport.Progress progress) {
        Engine.checkMayWait("send");
        return OwnThread.call("send a replica's files", () -> engine.backup(new PieceStorage(pieces), progress));
    }

    /** Closes the store; see {@link DurableListStore#close()}. */
    @Override
    public void close() {
        engine.close();
    }
}
