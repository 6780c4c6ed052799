package io.caravan.server.archive.push;

import io.caravan.server.archive.Archive;
import io.caravan.server.archive.Archive.KeptManifest;
import io.caravan.server.archive.format.Generation;
import io.caravan.server.archive.format.Manifest;
import io.caravan.server.archive.format.Manifest.Tombstone;
import io.caravan.server.archive.object.ObjectStoreException;
import io.caravan.server.document.ArchiveMark;
import io.caravan.server.document.Deletion;
import io.caravan.server.document.DocumentInfo;
import io.caravan.server.document.DocumentService;
import java.util.List;

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
     * Puts a tombstone, unless the archive has it, or has the document that has the name now.
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

    /**
     * Puts a tombstone also when the archive has nothing of the document, or something else of that name: an upload
     * whose answer was lost may still be under way, and must find that its manifest has changed.
     */
    private boolean tryOnce(Deletion deletion) {
        KeptManifest before = archive.manifest(deletion.name());
        Manifest manifest = before == null ? null : before.manifest();
        if (manifest != null && (isKnown(deletion, manifest) || isSucceeded(manifest))) {
            return false;
        }
        archive.commit(
                before,
                new Manifest(
                        archive.root().store(),
                        deletion.name(),
                        archive.root().epoch(),
                        manifest == null ? 0 : manifest.lastGeneration(),
                        manifest == null ? List.of() : manifest.generations(),
                        new Tombstone(deletion.incarnation(), deletion.nextSequence(), deletion.deletedAtMillis())));
        return true;
    }

    private static boolean isKnown(Deletion deletion, Manifest manifest) {
        Tombstone known = manifest.tombstone();
        return known != null && known.incarnation() == deletion.incarnation();
    }

    /** Whether there is a document of the name again, and the archive has it: that was put after the deletion. */
    private boolean isSucceeded(Manifest manifest) {
        DocumentInfo local = documents.peek(manifest.name());
        ArchiveMark mark = local == null ? null : local.attributes().archived();
        Generation latest = manifest.latest();
        return mark != null && latest != null && latest.incarnation() == mark.incarnation();
    }
}
