package io.caravan.server.archive;

import io.caravan.catalog.DocumentName;
import io.caravan.server.archive.Archive.KeptManifest;
import io.caravan.server.archive.format.ArchiveException;
import io.caravan.server.archive.format.ArchiveException.Reason;
import io.caravan.server.archive.format.ArchiveKeys;
import io.caravan.server.archive.format.Manifest;
import io.caravan.server.archive.format.ManifestCodec;
import io.caravan.server.archive.object.ObjectStore;
import io.caravan.server.archive.object.ObjectStore.Stored;
import java.util.UUID;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Reads and replaces the manifests of one store. Knows nothing of owners. */
final class Manifests {
    private static final Logger LOG = LoggerFactory.getLogger(Manifests.class);
    /** From here on each change of a manifest costs something, and its owner is warned, once. */
    private static final int LARGE_BYTES = 1 << 20;

    private final ObjectStore objects;
    private final UUID store;

    Manifests(ObjectStore objects, UUID store) {
        this.objects = objects;
        this.store = store;
    }

    /** The manifest of a document, or null when there is none. */
    @Nullable
    KeptManifest find(DocumentName name) {
        return at(ArchiveKeys.manifest(name));
    }

    /**
     * The manifest with this key, or null when there is none.
     *
     * @throws ArchiveException {@code CORRUPT} when it is not this key's, {@code FOREIGN} when it is another store's
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
                            + "': put the right one back from a copy or an earlier version of the bucket");
        }
        if (!manifest.store().equals(store)) {
            throw new ArchiveException(
                    Reason.FOREIGN,
                    "the manifest " + where(key) + " of document '" + manifest.name() + "' is of the store "
                            + manifest.store() + ", and the archive belongs to the store " + store
                            + ": somebody has copied it here; put the right one back, or delete it");
        }
        return new KeptManifest(manifest, stored.tag());
    }

    /**
     * Puts a manifest in the place of the one that was read. After any error, read it: the put may have taken place.
     *
     * @param before what was read, or null when there was none
     */
    KeptManifest replace(@Nullable KeptManifest before, Manifest after) {
        byte[] content = ManifestCodec.encode(after);
        if (content.length > LARGE_BYTES && (before == null || !isLarge(before.manifest()))) {
            LOG.warn(
                    "the manifest of document '{}' has {} generations, in {} bytes: at {} bytes it takes no more, and the"
                            + " document is archived no more; run caravan archive prune to remove old ones",
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

    /** Deletes a manifest if it is still the one that was read. */
    void delete(KeptManifest before) {
        objects.deleteIf(ArchiveKeys.manifest(before.manifest().name()), before.tag());
    }

    /** The keys of all manifests above this one, or all when it is empty, rising. */
    void keys(String after, Predicate<String> action) {
        objects.list(ArchiveKeys.MANIFESTS, after, listed -> action.test(listed.key()));
    }

    private String where(String key) {
        return objects.location() + "/" + key;
    }
}
