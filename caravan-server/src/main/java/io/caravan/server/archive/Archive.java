package io.caravan.server.archive;

import io.caravan.catalog.DocumentName;
import io.caravan.server.archive.Pruning.PruneListener;
import io.caravan.server.archive.Pruning.PruneReport;
import io.caravan.server.archive.format.ArchiveException;
import io.caravan.server.archive.format.ArchiveRoot;
import io.caravan.server.archive.format.Generation;
import io.caravan.server.archive.format.Manifest;
import io.caravan.server.archive.format.SnapshotHeader;
import io.caravan.server.archive.format.SnapshotReader;
import io.caravan.server.archive.format.SnapshotWriter;
import io.caravan.server.archive.object.ObjectStore;
import io.caravan.server.archive.object.ObjectStoreException;
import java.io.IOException;
import java.time.InstantSource;
import java.util.UUID;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The archived documents of one store. It is either {@link #claim claimed} by the one server that archives to it, its
 * owner, or {@link #open opened} to read it.
 *
 * <p>A document is archived by {@link #manifest reading its manifest}, {@link #putSnapshot putting a snapshot} with the
 * next generation's number, and {@link #commit committing} a manifest that names it. Only the last step makes it part
 * of the archive, all at once, and only if nobody has changed the manifest meanwhile; a snapshot that was put and not
 * committed means nothing, and pruning removes it.
 *
 * <p>The root's epoch tells owners apart. An owner that another has succeeded finds out by {@link #checkOwner}, before
 * a write when its {@link Lease} has run out, or when it commits to a manifest that the other has written: it is
 * fenced, and must archive no more.
 *
 * <p><b>Threading.</b> Any number of threads; all methods wait for the object store. Conditional puts, not locks, keep
 * writes apart.
 *
 * <p><b>Errors.</b> {@link ArchiveException} says what is wrong with the objects, {@link ObjectStoreException} that the
 * place does not answer as it should. Neither leaves anything half done, and the call may be repeated.
 */
public final class Archive {
    private final ObjectStore objects;
    private final ArchiveRoot root;
    private final @Nullable Lease lease;
    private final Roots roots;
    private final Manifests manifests;
    private final Snapshots snapshots;

    private Archive(ObjectStore objects, Roots roots, ArchiveRoot root, @Nullable Lease lease) {
        this.objects = objects;
        this.roots = roots;
        this.root = root;
        this.lease = lease;
        this.manifests = new Manifests(objects, root.store());
        this.snapshots = new Snapshots(objects, root.store());
    }

    /**
     * Opens an archive to read and to prune it, beside its owner.
     *
     * @throws ArchiveException {@code NOT_FOUND} when there is none, {@code CORRUPT} or {@code VERSION} when its root
     *     cannot be read
     */
    public static Archive open(ObjectStore objects) {
        Roots roots = new Roots(objects);
        return new Archive(objects, roots, roots.read(), null);
    }

    /**
     * Makes the place a store's archive, or takes the store's archive over from its last owner. It can then be read at
     * once; the first write waits for {@link Lease#HAND_OVER}.
     *
     * @param store the identity of the store whose documents are archived
     * @param owner the host and process, for people
     * @param clock tells the time of the claim
     * @param memory what the store remembers of its claims
     * @param leaseClock measures for how long a look at the root counts
     * @throws ArchiveException {@code FOREIGN} when the archive is another store's; {@code FENCED} when another copy of
     *     the store has claimed it since this one did; {@code NOT_FOUND} when it is not there any more; {@code CORRUPT}
     *     when it has lost its root; {@code CORRUPT} or {@code VERSION} when its root cannot be read
     */
    public static Archive claim(
            ObjectStore objects,
            UUID store,
            String owner,
            InstantSource clock,
            ClaimMemory memory,
            Lease.Clock leaseClock) {
        Roots roots = new Roots(objects);
        long began = leaseClock.nanoTime();
        ArchiveRoot root = roots.claim(store, owner, clock, memory);
        Lease lease = new Lease(leaseClock, began, root.epoch() > 1, () -> roots.check(root));
        return new Archive(objects, roots, root, lease);
    }

    /** The root as it was when the archive was opened or claimed. */
    public ArchiveRoot root() {
        return root;
    }

    /** Where the archive lies. Whoever opened it closes it. */
    public ObjectStore objects() {
        return objects;
    }

    /**
     * Looks whether this is still the archive's owner.
     *
     * @throws ArchiveException {@code FENCED} when another server has claimed it, {@code FOREIGN} when one of another
     *     store has, {@code NOT_FOUND} when the archive is gone, {@code CORRUPT} when only its root is
     */
    public void checkOwner() {
        requireLease().renew();
    }

    /**
     * Checks that the archive is still there. Where it is gone, as on a disk that was unmounted, no document is found, and
     * that does not mean that it was deleted.
     *
     * @throws ArchiveException {@code NOT_FOUND} when it is gone, {@code CORRUPT} when only its root is
     */
    public void requireThere() {
        roots.requireThere(root.store());
    }

    /**
     * Returns when this owner may write: the last owner has handed the archive over, and this one has looked at the
     * root within {@link Lease#LENGTH}. All writes call this; to call it before reading what a write depends on saves
     * vain work.
     *
     * @throws ArchiveException as {@link #checkOwner}
     */
    public void ensureOwner() {
        requireLease().ensure();
    }

    private Lease requireLease() {
        if (lease == null) {
            throw new IllegalStateException("the archive was opened to be read; claim it to write to it");
        }
        return lease;
    }

    /**
     * What is archived of a document, or null when nothing ever was, or nothing is any more.
     *
     * @throws ArchiveException {@code CORRUPT}, {@code VERSION} or {@code FOREIGN}, naming the object
     */
    public @Nullable KeptManifest manifest(DocumentName name) {
        return manifests.find(name);
    }

    /**
     * Passes on the keys of manifests above this one, or of all if it is empty, in the order of their bytes. Those that
     * come or go meanwhile may or may not be among them.
     *
     * @param action returns false to end
     */
    public void manifests(String afterKey, Predicate<String> action) {
        manifests.keys(afterKey, action);
    }

    /** As {@link #manifest}, by a key that {@link #manifests} told. */
    public @Nullable KeptManifest manifestAt(String key) {
        return manifests.at(key);
    }

    /**
     * Puts a snapshot. It is not archived before a manifest names it.
     *
     * @param header what the document is; it may have gone on when the source begins
     * @param source the values, streamed
     * @return the manifest's entry for it
     */
    public Generation putSnapshot(SnapshotHeader header, SnapshotSource source) {
        requireLease();
        if (!header.store().equals(root.store()) || header.epoch() != root.epoch()) {
            throw new IllegalArgumentException(
                    "a snapshot for the archive of store " + root.store() + ", epoch " + root.epoch() + ": " + header);
        }
        ensureOwner();
        return snapshots.put(header, source);
    }

    /**
     * Replaces the manifest that was read, adding a generation or a tombstone. Succeeds also when the answer was lost
     * and the manifest turns out to be there.
     *
     * @param before what {@link #manifest} returned
     * @param after all of {@code before}'s generations, and more
     * @return the manifest that is there now, for the next commit
     * @throws ArchiveException {@code FENCED} when a later owner has written the manifest; {@code BACK_IN_TIME} when
     *     the archive has a later state of the same incarnation
     * @throws ObjectStoreException {@code CONFLICT} when somebody has changed the manifest since it was read, as
     *     pruning does: start over with reading it
     */
    public KeptManifest commit(@Nullable KeptManifest before, Manifest after) {
        requireLease();
        if (!after.store().equals(root.store()) || after.epoch() != root.epoch()) {
            throw new IllegalArgumentException("a manifest for the archive of store " + root.store() + ", epoch "
                    + root.epoch() + ": of store " + after.store() + ", epoch " + after.epoch());
        }
        checkNotFenced(before);
        Manifests.Change change = new Manifests.Change(before == null ? null : before.manifest(), after);
        change.check();
        ensureOwner();
        try {
            return manifests.replace(before, after);
        } catch (ObjectStoreException problem) {
            if (problem.leavesOutcomeOpen()) {
                return resolve(change, problem);
            }
            throw problem;
        }
    }

    private void checkNotFenced(@Nullable KeptManifest kept) {
        if (kept != null && kept.manifest().epoch() > root.epoch()) {
            throw roots.fenced(
                    "number " + kept.manifest().epoch() + " has written the manifest of document '"
                            + kept.manifest().name() + "'",
                    root);
        }
    }

    /**
     * The put may have taken place in spite of its error: the manifest tells. That it can be read does not make it
     * durable, as when the sync of a folder has failed, so it is put once more.
     */
    private KeptManifest resolve(Manifests.Change change, ObjectStoreException problem) {
        KeptManifest now;
        try {
            now = manifests.find(change.after().name());
        } catch (ObjectStoreException unreadable) {
            problem.addSuppressed(unreadable);
            throw problem;
        }
        checkNotFenced(now);
        if (now == null || !change.isIn(now.manifest())) {
            throw problem;
        }
        try {
            return manifests.replace(now, now.manifest());
        } catch (ObjectStoreException notDurable) {
            notDurable.addSuppressed(problem);
            throw notDurable;
        }
    }

    /**
     * Opens a snapshot. By the reader's end it is known to be the one that was put, byte by byte.
     *
     * @param generation as a manifest of the document told
     * @throws ArchiveException {@code NOT_FOUND} when the object is not there, as when it has been pruned since; {@code
     *     CORRUPT} when it is another one
     */
    public SnapshotReader read(DocumentName name, Generation generation) {
        return snapshots.open(name, generation);
    }

    /**
     * Removes what policies do not keep, beside the archive's owner. If it is ended, the next run removes the rest.
     *
     * @param dryRun report it, and remove nothing
     * @param jobs how many documents at a time
     * @param nowMillis from which ages are counted, in milliseconds since 1970
     */
    public PruneReport prune(PrunePolicies policies, boolean dryRun, int jobs, long nowMillis, PruneListener listener) {
        return pruning(policies, dryRun, nowMillis, listener).run(jobs, false);
    }

    /**
     * Prunes, one at a time, only documents that have more snapshots than their policy keeps by their number: those that
     * have changed often of late. It reads no other manifest.
     */
    public PruneReport thin(PrunePolicies policies, long nowMillis, PruneListener listener) {
        return pruning(policies, false, nowMillis, listener).run(1, true);
    }

    private Pruning pruning(PrunePolicies policies, boolean dryRun, long nowMillis, PruneListener listener) {
        return new Pruning(
                new DocumentPruner.Run(objects, manifests, root.epoch(), policies, nowMillis, dryRun), listener);
    }

    /**
     * A manifest as it lies in an archive.
     *
     * @param manifest what it says
     * @param tag tells it from what was and will be in its place; {@link #commit} depends on it
     */
    public record KeptManifest(Manifest manifest, String tag) {}

    /**
     * What a store remembers of its claims of an archive: by this, a store that another copy of it has succeeded knows
     * that it must not take the archive back. Owners are those of roots; null is for an archive that is not there.
     */
    public interface ClaimMemory {
        /** Whether the store may claim the archive from this owner: no other copy has claimed it in between. */
        boolean expects(@Nullable String owner);

        /**
         * The store is about to claim the archive; whether it then does is not known. Durable on return.
         *
         * @param before whose the archive is now
         * @param owner whose it will be
         */
        void claiming(@Nullable String before, String owner);
    }

    /** Where the values of a snapshot come from, while it is put. */
    @FunctionalInterface
    public interface SnapshotSource {

        /** Where a snapshot goes. */
        @FunctionalInterface
        interface Target {
            /**
             * Begins the snapshot, once per call of {@link SnapshotSource#writeTo}. The header is of the moment whose
             * values follow: sequences, attributes and time may have gone on since the put was asked for, but not name,
             * incarnation, generation and epoch.
             *
             * @throws IllegalArgumentException when the header is of another document, or goes back
             */
            SnapshotWriter begin(SnapshotHeader header) throws IOException;
        }

        /**
         * Writes all values of one moment, on the caller's thread or one of the object store's. If the put has to start
         * over, it is called again, and may write those of a later moment. The caller finishes the writer. An exception
         * ends the put, with nothing put: it must pass on an {@link IOException} of the target, and a runtime exception
         * reaches the one who asked for the put.
         */
        void writeTo(Target target) throws IOException;
    }
}
