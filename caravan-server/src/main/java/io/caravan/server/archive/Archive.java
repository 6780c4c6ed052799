package io.caravan.server.archive;

import io.caravan.catalog.DocumentName;
import io.caravan.server.archive.format.ArchiveException;
import io.caravan.server.archive.format.ArchiveException.Reason;
import io.caravan.server.archive.format.ArchiveKeys;
import io.caravan.server.archive.format.ArchiveRoot;
import io.caravan.server.archive.format.Generation;
import io.caravan.server.archive.format.Manifest;
import io.caravan.server.archive.format.Manifest.Tombstone;
import io.caravan.server.archive.format.SnapshotHeader;
import io.caravan.server.archive.format.SnapshotReader;
import io.caravan.server.archive.format.SnapshotWriter;
import io.caravan.server.archive.object.ObjectStore;
import io.caravan.server.archive.object.ObjectStore.Listed;
import io.caravan.server.archive.object.ObjectStore.Stored;
import io.caravan.server.archive.object.ObjectStoreException;
import io.caravan.server.document.ArchiveMark;
import io.caravan.server.document.DocumentAttributes;
import io.caravan.server.document.DocumentInfo;
import io.caravan.server.document.DocumentReader;
import io.caravan.server.document.DocumentService;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.function.LongConsumer;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The archive of the documents of one store. It is either {@link #claim claimed} by its owner, the one server that
 * archives to it, or {@link #open opened} for reading and pruning.
 *
 * <p>Archiving a document takes three steps: {@link #manifest read its manifest}, {@link #putSnapshot put a snapshot}
 * with the number of the next generation, and {@link #commit commit} a manifest that names it. Only the commit makes
 * the snapshot part of the archive. It is atomic, and succeeds only if the manifest has not changed since it was read.
 * Pruning deletes snapshots that were put but not committed.
 *
 * <p>The epoch in the root distinguishes owners. An owner whose successor has claimed the archive is fenced, and must
 * stop archiving. It detects this in {@link #checkOwner}, which runs before a write once the {@link Lease} has expired,
 * or when it commits to a manifest that the successor has written.
 *
 * <p><b>Threading.</b> Thread-safe. Methods block until the object store has responded. Conditional puts, not locks,
 * isolate concurrent writes.
 *
 * <p><b>Errors.</b> {@link ArchiveException} reports a fault in the objects, {@link ObjectStoreException} a fault of
 * the object store. A failed call leaves no partial change and may be retried.
 */
public final class Archive {
    /** The number of bytes read from a snapshot between two progress reports of its verification. */
    private static final long REPORTED_BYTES = 1 << 20;

    private static final Logger LOG = LoggerFactory.getLogger(Archive.class);
    /** The size above which manifests are slow to replace. A manifest that first exceeds it causes a warning. */
    private static final int LARGE_BYTES = 1 << 20;

    private final ObjectStore objects;
    private final ArchiveRoot root;
    private final @Nullable Lease lease;
    private final Pace pace;
    private final SecureRandom random = new SecureRandom();

    private Archive(ObjectStore objects, ArchiveRoot root, @Nullable Lease lease, Pace pace) {
        this.objects = objects;
        this.root = root;
        this.lease = lease;
        this.pace = pace;
    }

    /**
     * Opens an archive for reading and pruning, while its owner may be writing to it.
     *
     * @throws ArchiveException {@code NOT_FOUND} when there is no archive, {@code CORRUPT} or {@code VERSION} when its
     *     root cannot be read
     */
    public static Archive open(ObjectStore objects) {
        return new Archive(objects, Lease.read(objects), null, Pace.UNLIMITED);
    }

    /**
     * Creates a store's archive, or takes ownership of it from its previous owner. The archive can be read immediately.
     * After a takeover, the first write waits for {@link Lease#TAKEOVER_DELAY}.
     *
     * @param store the identity of the store whose documents are archived
     * @param owner the host and process, in human-readable form
     * @param clock provides the time of the claim
     * @param memory the store's record of its claims
     * @param leaseClock measures how long a check of the root remains valid
     * @param pace limits and counts the bytes that are written
     * @throws ArchiveException {@code FOREIGN} when the archive is another store's. {@code FENCED} when another copy of
     *     the store has claimed it since this one did. {@code NOT_FOUND} when it no longer exists. {@code CORRUPT} when
     *     it has lost its root. {@code CORRUPT} or {@code VERSION} when its root cannot be read
     */
    public static Archive claim(
            ObjectStore objects,
            UUID store,
            String owner,
            InstantSource clock,
            Lease.ClaimMemory memory,
            Lease.Clock leaseClock,
            Pace pace) {
        Lease lease = Lease.claim(objects, store, owner, clock, memory, leaseClock);
        pace.waitAfter(ArchiveKeys.ROOT, lease.root().encode().length);
        return new Archive(objects, lease.root(), lease, pace);
    }

    /** Returns the root as of the time when the archive was opened or claimed. */
    public ArchiveRoot root() {
        return root;
    }

    /** Returns the archive's object store. The code that opened the object store must close it. */
    public ObjectStore objects() {
        return objects;
    }

    /**
     * Checks that this server still owns the archive.
     *
     * @throws ArchiveException {@code FENCED} when another server has claimed it, {@code FOREIGN} when a server of
     *     another store has, {@code NOT_FOUND} when the archive is gone, {@code CORRUPT} when only its root is gone
     */
    public void checkOwner() {
        requireLease().renew();
    }

    /**
     * Checks that the archive still exists. If it does not, for example because a disk was unmounted, a document that
     * is missing from the archive was not necessarily deleted.
     *
     * @throws ArchiveException {@code NOT_FOUND} when it is gone, {@code CORRUPT} when only its root is gone
     */
    public void requireExists() {
        Lease.requireExists(objects, root.store());
    }

    /**
     * Waits until this owner may write, that is, until the previous owner's lease has expired and this owner has
     * checked the root within the last {@link Lease#LENGTH}. All writes call this method. To avoid wasted work, call it
     * before you read the state that a write depends on.
     *
     * @throws ArchiveException as {@link #checkOwner}
     */
    public void ensureOwner() {
        requireLease().ensure();
    }

    private Lease requireLease() {
        if (lease == null) {
            throw new IllegalStateException("the archive is open for reading only; claim it before a write");
        }
        return lease;
    }

    /**
     * Returns the manifest of a document, or null if the document was never archived or has been pruned.
     *
     * @throws ArchiveException {@code CORRUPT}, {@code VERSION} or {@code FOREIGN}, naming the object
     */
    public @Nullable KeptManifest manifest(DocumentName name) {
        return manifestAt(ArchiveKeys.manifest(name));
    }

    /**
     * Returns the keys of all manifests, in byte order. The stream lists them page by page, and may omit manifests that
     * are added or deleted in the meantime.
     */
    public Stream<String> manifests() {
        return objects.list(ArchiveKeys.MANIFESTS).map(Listed::key);
    }

    /**
     * Returns the manifest with a key from {@link #manifests}, or null when there is none.
     *
     * @throws ArchiveException {@code CORRUPT} when it belongs to another key, {@code FOREIGN} when it belongs to
     *     another store
     */
    public @Nullable KeptManifest manifestAt(String key) {
        Stored stored = objects.get(key, Manifest.MAX_BYTES);
        return stored == null ? null : kept(key, stored);
    }

    private KeptManifest kept(String key, Stored stored) {
        Manifest manifest = Manifest.decode(stored.content(), where(key));
        if (!ArchiveKeys.manifest(manifest.name()).equals(key)) {
            throw new ArchiveException(
                    Reason.CORRUPT,
                    "the manifest " + where(key) + " is that of another document, '" + manifest.name()
                            + "': restore the right object from a backup or from an earlier version in the bucket,"
                            + " and then archive the document with caravan archive");
        }
        if (!manifest.store().equals(root.store())) {
            throw new ArchiveException(
                    Reason.FOREIGN,
                    "the manifest " + where(key) + " of document '" + manifest.name() + "' belongs to the store "
                            + manifest.store() + ", but the archive belongs to the store "
                            + root.store()
                            + ": the object was copied here; restore the right object, or delete this one");
        }
        return new KeptManifest(manifest, stored.tag());
    }

    /**
     * Puts a snapshot into the object store. It is archived once a manifest that names it is committed.
     *
     * @param expected the document; the snapshot may have a later state
     * @param generation the number of the snapshot
     * @param clock provides the time when the snapshot is taken
     * @param source passes the document to a reader, like {@link DocumentService#snapshot}; called again, perhaps on
     *     another thread, if the put restarts. An exception ends the put, which then stores nothing
     * @return the generation for the manifest, and the mark for it; null when the document no longer exists
     */
    public @Nullable Snapshot putSnapshot(
            DocumentName name,
            DocumentInfo expected,
            long incarnation,
            long generation,
            InstantSource clock,
            Predicate<DocumentReader> source) {
        ensureOwner();
        String key = ArchiveKeys.snapshot(name, generation, expected.nextSequence(), root.epoch(), random.nextInt());
        // The object store may restart the put on another thread. It then stores the content of the last call.
        AtomicReference<@Nullable Snapshot> put = new AtomicReference<>();
        try {
            objects.put(key, out -> {
                Upload upload = new Upload(
                        expected,
                        pace.limit(out),
                        current -> new SnapshotHeader(
                                root.store(),
                                name,
                                incarnation,
                                generation,
                                root.epoch(),
                                current.firstSequence(),
                                current.nextSequence(),
                                clock.millis(),
                                current.attributes().portable()));
                put.set(upload.run(source, key));
            });
        } catch (GoneException gone) {
            return null;
        }
        return Objects.requireNonNull(put.get(), "the object store has put an object without content");
    }

    /** A snapshot that was put: its generation, and the mark that its document gets once it is committed. */
    public record Snapshot(Generation generation, ArchiveMark mark) {}

    /** Returns the archive mark of a document that equals the generation. */
    public static ArchiveMark mark(Generation generation, DocumentAttributes attributes) {
        return new ArchiveMark(
                generation.incarnation(),
                generation.number(),
                generation.firstSequence(),
                generation.nextSequence(),
                generation.takenAtMillis(),
                attributes.portableHash());
    }

    /**
     * Commits a generation: replaces the manifest with one that also names the generation. Also succeeds when the
     * response was lost but the manifest was written.
     *
     * @param before the result of {@link #manifest}
     * @param added the result of {@link #putSnapshot}
     * @return the manifest as it is now, for the next commit
     * @throws ArchiveException {@code FENCED} when a later owner has written the manifest; {@code DIVERGED} when
     *     the archive has a later state of the same incarnation
     * @throws ObjectStoreException {@code CONFLICT} when the manifest has changed since it was read, for example by
     *     pruning: start over by reading it
     */
    public KeptManifest commit(@Nullable KeptManifest before, DocumentName name, Generation added) {
        Manifest replaced = replaced(before, name);
        if (added.number() <= replaced.lastGeneration()) {
            throw new IllegalArgumentException("the manifest of '" + name + "' must not be put: generation "
                    + added.number() + " is not above " + replaced.lastGeneration());
        }
        List<Generation> generations = new ArrayList<>(replaced.generations());
        generations.stream()
                .filter(earlier -> earlier.incarnation() == added.incarnation())
                .reduce((first, second) -> second)
                .ifPresent(latest -> checkTime(name, latest, added));
        generations.add(added);
        return commit(
                before,
                new Manifest(root.store(), name, root.epoch(), added.number(), generations, null),
                now -> now.generations().stream()
                        .anyMatch(generation -> generation.key().equals(added.key())));
    }

    /** Commits the deletion of a document, and keeps its generations. Otherwise works like the other method. */
    public KeptManifest commit(@Nullable KeptManifest before, DocumentName name, Tombstone tombstone) {
        Manifest replaced = replaced(before, name);
        long last = replaced.lastGeneration();
        return commit(
                before,
                new Manifest(root.store(), name, root.epoch(), last, replaced.generations(), tombstone),
                now -> tombstone.equals(now.tombstone()) && now.lastGeneration() == last);
    }

    /** Returns the manifest that a commit replaces; an empty one if the document has none. */
    private Manifest replaced(@Nullable KeptManifest before, DocumentName name) {
        requireLease();
        checkNotFenced(before);
        Manifest replaced =
                before == null ? new Manifest(root.store(), name, root.epoch(), 0, List.of(), null) : before.manifest();
        if (!replaced.name().equals(name)) {
            throw new IllegalArgumentException(
                    "the manifest of '" + name + "' must not be put: it is that of another document");
        }
        return replaced;
    }

    private static void checkTime(DocumentName name, Generation last, Generation added) {
        if (added.nextSequence() < last.nextSequence()) {
            throw new ArchiveException(
                    Reason.DIVERGED,
                    "document '" + name + "' ends at sequence " + added.nextSequence()
                            + " in this store, but its generation " + last.number() + " in the archive ends at "
                            + last.nextSequence()
                            + ": this store is an older copy, so the archive was not changed."
                            + " Restore the document from the archive, or restore it under another name and delete"
                            + " it in this store");
        }
    }

    /** @param isIn whether a manifest includes the change; other processes may have changed the manifest further */
    private KeptManifest commit(@Nullable KeptManifest before, Manifest after, Predicate<Manifest> isIn) {
        ensureOwner();
        String key = ArchiveKeys.manifest(after.name());
        byte[] content = after.encode();
        if (content.length > LARGE_BYTES && (before == null || before.manifest().encode().length <= LARGE_BYTES)) {
            LOG.warn(
                    "the manifest of document '{}' has {} generations in {} bytes: at {} bytes, the document can no"
                            + " longer be archived; run caravan archive prune to remove old generations",
                    after.name(),
                    after.generations().size(),
                    content.length,
                    Manifest.MAX_BYTES);
        }
        Stored now =
                objects.putSurely(key, content, before == null ? null : before.tag(), Manifest.MAX_BYTES, found -> {
                    KeptManifest kept = kept(key, found);
                    checkNotFenced(kept);
                    return isIn.test(kept.manifest());
                });
        pace.waitAfter(key, content.length);
        return kept(key, now);
    }

    private void checkNotFenced(@Nullable KeptManifest kept) {
        if (kept != null && kept.manifest().epoch() > root.epoch()) {
            throw requireLease()
                    .fenced("number " + kept.manifest().epoch() + " has written the manifest of document '"
                            + kept.manifest().name() + "'");
        }
    }

    /**
     * Replaces the manifest that was read, without a check of the ownership. After any error, read the manifest: the
     * put may have taken place.
     */
    KeptManifest replace(KeptManifest before, Manifest after) {
        byte[] content = after.encode();
        String key = ArchiveKeys.manifest(after.name());
        String tag = objects.putIf(key, content, before.tag());
        pace.waitAfter(key, content.length);
        return new KeptManifest(after, tag);
    }

    private String where(String key) {
        return objects.location() + "/" + key;
    }

    /**
     * Opens a snapshot. A reader that has reached the end has verified every byte.
     *
     * @param generation from a manifest of the document
     * @throws ArchiveException {@code NOT_FOUND} when the object does not exist, for example because it has been
     *     pruned; {@code CORRUPT} when it is not this generation
     */
    public SnapshotReader read(DocumentName name, Generation generation) {
        InputStream in;
        try {
            in = objects.open(generation.key());
        } catch (ObjectStoreException problem) {
            if (problem.kind() != ObjectStoreException.Kind.NOT_FOUND) {
                throw problem;
            }
            throw new ArchiveException(
                    Reason.NOT_FOUND,
                    "generation " + generation.number() + " of document '" + name + "' has no object "
                            + where(generation.key())
                            + ", which its manifest names, unless it has just been pruned: use another generation, or"
                            + " restore the object from a backup",
                    problem);
        }
        return SnapshotReader.open(in, where(generation.key())).expect(root.store(), name, generation);
    }

    /**
     * Reads a snapshot to the end, which verifies every byte.
     *
     * @param read receives the number of bytes read since the last call, about once for each MiB
     * @throws ArchiveException as {@link #read}, and {@code CORRUPT} when the content is damaged
     */
    public void verify(DocumentName name, Generation generation, LongConsumer read) {
        try (SnapshotReader snapshot = read(name, generation)) {
            long bytes = 0;
            while (snapshot.next()) {
                bytes += snapshot.value().remaining();
                if (bytes >= REPORTED_BYTES) {
                    read.accept(bytes);
                    bytes = 0;
                }
            }
            read.accept(bytes);
        }
    }

    /**
     * A manifest as it is stored in an archive.
     *
     * @param manifest the content
     * @param tag identifies this version of the object, for {@link #commit}
     */
    public record KeptManifest(Manifest manifest, String tag) {}

    private static final class GoneException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        GoneException() {
            super("the document was deleted while it was being archived", null, false, false);
        }
    }

    /** Writes one document to the snapshot that is being put. */
    private static final class Upload implements DocumentReader {
        private final DocumentInfo expected;
        private final OutputStream out;
        private final Function<DocumentInfo, SnapshotHeader> header;
        private @Nullable DocumentInfo taken;
        private @Nullable SnapshotWriter writer;

        /** @param header returns the header for the state of the document in which it is read */
        Upload(DocumentInfo expected, OutputStream out, Function<DocumentInfo, SnapshotHeader> header) {
            this.expected = expected;
            this.out = out;
            this.header = header;
        }

        Snapshot run(Predicate<DocumentReader> source, String key) throws IOException {
            try {
                boolean exists = source.test(this);
                if (!exists || taken == null || writer == null) {
                    throw new GoneException();
                }
            } catch (UncheckedIOException failed) {
                throw failed.getCause();
            }
            Generation generation = writer.finish(key);
            return new Snapshot(generation, Archive.mark(generation, taken.attributes()));
        }

        @Override
        public boolean begin(DocumentInfo info) {
            if (info.id() != expected.id()) {
                return false;
            }
            if (writer != null || info.nextSequence() < expected.nextSequence()) {
                throw new IllegalArgumentException("a snapshot begins with " + info + " where " + expected
                        + (writer != null ? " has begun" : " was expected"));
            }
            taken = info;
            try {
                writer = new SnapshotWriter(out, header.apply(info));
            } catch (IOException failed) {
                throw new UncheckedIOException(failed);
            }
            return true;
        }

        @Override
        public boolean next(long sequence, ByteBuffer value) {
            try {
                Objects.requireNonNull(writer).add(sequence, value);
                return true;
            } catch (IOException failed) {
                throw new UncheckedIOException(failed);
            }
        }
    }
}
