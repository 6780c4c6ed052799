package io.caravan.server.archive.push;

import io.caravan.server.archive.Archive;
import io.caravan.server.archive.KeptManifest;
import io.caravan.server.archive.format.Generation;
import io.caravan.server.archive.format.Manifest;
import io.caravan.server.archive.format.Tombstone;
import io.caravan.server.archive.object.ObjectStoreException;
import io.caravan.server.document.Deletion;
import io.caravan.server.document.DocumentService;

/** Has an archive know what was deleted. Any thread that may wait; for one name one at a time. */
final class DeletionPush {
    /** As in {@link DocumentPush}. */
    private static final int ATTEMPTS = 5;

    private final DocumentService documents;
    private final Archive archive;

    DeletionPush(DocumentService documents, Archive archive) {
        this.documents = documents;
        this.archive = archive;
    }

    /**
     * Puts a tombstone, if the deleted document is the newest that the archive has of the name.
     *
     * @return whether there was something to put
     */
    boolean push(Deletion deletion) {
        for (int left = ATTEMPTS; ; left--) {
            try {
                boolean put = tryOnce(deletion);
                documents.deletionArchived(deletion);
                return put;
            } catch (ObjectStoreException conflict) {
                if (conflict.kind() != ObjectStoreException.Kind.CONFLICT || left == 1) {
                    throw conflict;
                }
            }
        }
    }

    private boolean tryOnce(Deletion deletion) {
        KeptManifest before = archive.manifest(deletion.name());
        if (before == null || !concerns(deletion, before.manifest())) {
            return false;
        }
        Manifest manifest = before.manifest();
        Tombstone tombstone =
                new Tombstone(deletion.incarnation(), deletion.nextSequence(), deletion.deletedAtMillis());
        archive.commit(
                before,
                new Manifest(
                        manifest.store(),
                        manifest.name(),
                        archive.root().epoch(),
                        manifest.lastGeneration(),
                        manifest.generations(),
                        tombstone));
        return true;
    }

    private static boolean concerns(Deletion deletion, Manifest manifest) {
        Generation latest = manifest.latest();
        Tombstone known = manifest.tombstone();
        return latest != null
                && latest.incarnation() == deletion.incarnation()
                && (known == null || known.incarnation() != deletion.incarnation());
    }
}
