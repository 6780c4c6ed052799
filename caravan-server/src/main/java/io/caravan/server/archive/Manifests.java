package io.caravan.server.archive;

import io.caravan.catalog.DocumentName;
import io.caravan.server.archive.Archive.KeptManifest;
import io.caravan.server.archive.format.ArchiveException;
import io.caravan.server.archive.format.ArchiveException.Reason;
import io.caravan.server.archive.format.ArchiveKeys;
import io.caravan.server.archive.format.Generation;
import io.caravan.server.archive.format.Manifest;
import io.caravan.server.archive.format.ManifestCodec;
import io.caravan.server.archive.object.ObjectStore;
import io.caravan.server.archive.object.ObjectStore.Stored;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Reads and replaces the manifests of one store. Does not check ownership. */
final class Manifests {
    private static final Logger LOG = LoggerFactory.getLogger(Manifests.class);
    /** The size above which manifests are slow to replace. A manifest that first exceeds it causes a warning. */
    private static final int LARGE_BYTES = 1 << 20;

    private final ObjectStore objects;
    private final UUID store;

    Manifests(ObjectStore objects, UUID store) {
        this.objects = objects;
        this.store = store;
    }

    /** Returns the manifest of a document, or null when there is none. */
    @Nullable
    KeptManifest find(DocumentName name) {
        return at(ArchiveKeys.manifest(name));
    }

    /**
     * Returns the manifest with this key, or null when there is none.
     *
     * @throws ArchiveException {@code CORRUPT} when it belongs to another key, {@code FOREIGN} when it belongs to
     *     another store
     */
    @Nullable
    KeptManifest at(String key) {
        Stored stored = objects.get(key, ManifestCodec.MAX_BYTES);
        if (stored == null) {
            return null;
        }
        Manifest manifest = ManifestCodec.decode(stored.content(), where(key));
        if (!ArchiveKeys.manifest(manifest.name()).equals(key)) {
            throw new ArchiveException(
                    Reason.CORRUPT,
                    "the manifest " + where(key) + " is that of another document, '" + manifest.name()
                            + "': restore the right object from a backup or from an earlier version in the bucket,"
                            + " and then archive the document with caravan archive");
        }
        if (!manifest.store().equals(store)) {
            throw new ArchiveException(
                    Reason.FOREIGN,
                    "the manifest " + where(key) + " of document '" + manifest.name() + "' belongs to the store "
                            + manifest.store() + ", but the archive belongs to the store " + store
                            + ": the object was copied here; restore the right object, or delete this one");
        }
        return new KeptManifest(manifest, stored.tag());
    }

    /**
     * Replaces the manifest that was read. After any error, read the manifest: the put may have taken place.
     *
     * @param before the manifest that was read, or null when there was none
     */
    KeptManifest replace(@Nullable KeptManifest before, Manifest after) {
        byte[] content = ManifestCodec.encode(after);
        if (content.length > LARGE_BYTES && (before == null || !isLarge(before.manifest()))) {
            LOG.warn(
                    "the manifest of document '{}' has {} generations in {} bytes: at {} bytes, the document can no"
                            + " longer be archived; run caravan archive prune to remove old generations",
                    after.name(),
                    after.generations().size(),
                    content.length,
                    ManifestCodec.MAX_BYTES);
        }
        String key = ArchiveKeys.manifest(after.name());
        return new KeptManifest(after, objects.putIf(key, content, before == null ? null : before.tag()));
    }

    private static boolean isLarge(Manifest manifest) {
        return ManifestCodec.encode(manifest).length > LARGE_BYTES;
    }

    /**
     * Deletes a manifest if it has not changed since it was read. Returns false if the object store does not support
     * conditional deletions.
     */
    boolean delete(KeptManifest before) {
        return objects.deleteIf(ArchiveKeys.manifest(before.manifest().name()), before.tag());
    }

    private String where(String key) {
        return objects.location() + "/" + key;
    }

    /**
     * An owner's change to a manifest. It adds generations or a tombstone and removes nothing. The numbers of
     * generations only increase. Within an incarnation, no generation is older than the one before it.
     *
     * @param before the manifest that was read, or null when there was none
     * @param after its replacement
     */
    record Change(@Nullable Manifest before, Manifest after) {

        /**
         * Checks that the change follows these rules.
         *
         * @throws IllegalArgumentException when the caller has broken a rule
         * @throws ArchiveException {@code DIVERGED} when the document is older than its latest generation
         */
        void check() {
            List<Generation> kept = before == null ? List.of() : before.generations();
            List<Generation> all = after.generations();
            require(before == null || before.name().equals(after.name()), "it is that of another document");
            require(all.size() >= kept.size() && all.subList(0, kept.size()).equals(kept), "it lacks generations");
            long last = lastBefore();
            for (Generation added : all.subList(kept.size(), all.size())) {
                require(added.number() > last, "generation " + added.number() + " is not above " + last);
                last = added.number();
            }
            require(after.lastGeneration() == last, "its last generation is not " + last);
            require(all.size() > kept.size() || after.tombstone() != null, "it adds nothing");
            for (int i = kept.size(); i < all.size(); i++) {
                Generation added = all.get(i);
                all.subList(0, i).stream()
                        .filter(earlier -> earlier.incarnation() == added.incarnation())
                        .reduce((first, second) -> second)
                        .ifPresent(latest -> checkTime(latest, added));
            }
        }

        private void require(boolean holds, String otherwise) {
            if (!holds) {
                throw new IllegalArgumentException(
                        "the manifest of '" + after.name() + "' must not be put: " + otherwise);
            }
        }

        private long lastBefore() {
            return before == null ? 0 : before.lastGeneration();
        }

        private void checkTime(Generation last, Generation added) {
            if (added.nextSequence() < last.nextSequence()) {
                throw new ArchiveException(
                        Reason.DIVERGED,
                        "document '" + after.name() + "' ends at sequence " + added.nextSequence()
                                + " in this store, but its generation " + last.number() + " in the archive ends at "
                                + last.nextSequence()
                                + ": this store is an older copy, so the archive was not changed."
                                + " Restore the document from the archive, or restore it under another name and delete"
                                + " it in this store");
            }
        }

        /** Whether a manifest includes the change; other processes may have changed the manifest further. */
        boolean isIn(Manifest manifest) {
            Generation latest = after.latest();
            if (latest != null && latest.number() > lastBefore()) {
                return manifest.generations().stream()
                        .anyMatch(generation -> generation.key().equals(latest.key()));
            }
            return after.tombstone() != null
                    && after.tombstone().equals(manifest.tombstone())
                    && after.lastGeneration() == manifest.lastGeneration();
        }
    }
}
