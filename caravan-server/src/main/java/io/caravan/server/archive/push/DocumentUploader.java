package io.caravan.server.archive.push;

import io.caravan.catalog.DocumentName;
import io.caravan.server.archive.Archive;
import io.caravan.server.archive.Archive.KeptManifest;
import io.caravan.server.archive.Archive.Snapshot;
import io.caravan.server.archive.format.Generation;
import io.caravan.server.archive.format.Manifest;
import io.caravan.server.archive.format.Manifest.Tombstone;
import io.caravan.server.archive.format.SnapshotReader;
import io.caravan.server.archive.object.ObjectStoreException;
import io.caravan.server.archive.push.Archiver.Archived;
import io.caravan.server.document.ArchiveMark;
import io.caravan.server.document.DeletionRecord;
import io.caravan.server.document.DocumentException;
import io.caravan.server.document.DocumentInfo;
import io.caravan.server.document.DocumentService;
import io.caravan.server.document.Outcome;
import java.time.InstantSource;
import java.util.function.IntFunction;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Puts documents and deletions into an archive. For a document, it writes a mark with an incarnation, the snapshot, the
 * manifest, and the mark that records what is archived, in this order. A failure between these steps is safe. Called on
 * any thread that may block, on one thread at a time for each name.
 */
final class DocumentUploader {
    /** Maximum number of attempts. Each conflict means that another process has just changed the manifest. */
    private static final int ATTEMPTS = 5;
    /** Maximum size of a never-archived document that is assumed to have no manifest. A wrong guess costs little. */
    private static final long GUESS_BYTES = 64 * 1024;

    private final DocumentService documents;
    private final Archive archive;
    private final InstantSource clock;
    private final LongSupplier random;

    /** Creates an uploader; {@code random} provides incarnations. */
    DocumentUploader(DocumentService documents, Archive archive, InstantSource clock, LongSupplier random) {
        this.documents = documents;
        this.archive = archive;
        this.clock = clock;
        this.random = random;
    }

    /**
     * Archives a document if it has changed since it was archived, or if the archive lacks its state.
     *
     * @param trusted whether the archive is known to have the generation in the document's mark; otherwise, the
     *     uploader checks this
     * @return null when the document does not exist or no longer exists
     */
    @Nullable
    Archived upload(DocumentName name, boolean trusted) {
        return retryConflicts(attempt -> {
            DocumentInfo info = documents.peek(name);
            ArchiveMark mark = info == null ? null : marked(name, info);
            if (info == null || mark == null) {
                return null;
            }
            return info.archived() && (trusted || holds(name, mark))
                    ? new Archived(mark, false)
                    : upload(name, info, mark, attempt == 1);
        });
    }

    private static <T extends @Nullable Object> T retryConflicts(IntFunction<T> work) {
        for (int attempt = 1; ; attempt++) {
            try {
                return work.apply(attempt);
            } catch (ObjectStoreException problem) {
                if (attempt == ATTEMPTS || problem.kind() != ObjectStoreException.Kind.CONFLICT) {
                    throw problem;
                }
            } catch (DocumentException problem) {
                if (attempt == ATTEMPTS || problem.reason() != DocumentException.Reason.CHANGED) {
                    throw problem;
                }
            }
        }
    }

    /** Whether the archive's latest generation is the one in the mark. */
    private boolean holds(DocumentName name, ArchiveMark mark) {
        KeptManifest kept = archive.manifest(name);
        Generation latest = kept == null ? null : kept.manifest().latest();
        return kept != null
                && latest != null
                && kept.manifest().tombstone() == null
                && latest.incarnation() == mark.incarnation()
                && latest.number() == mark.generation()
                && latest.firstSequence() == mark.firstSequence()
                && latest.nextSequence() == mark.nextSequence();
    }

    /** Returns the document's mark, and creates it if there is none. Returns null if the document no longer exists. */
    private @Nullable ArchiveMark marked(DocumentName name, DocumentInfo info) {
        ArchiveMark mark = info.attributes().archived();
        if (mark != null) {
            return mark;
        }
        ArchiveMark first = ArchiveMark.first(random.getAsLong());
        return mark(name, info.id(), first) ? first : null;
    }

    private @Nullable Archived upload(DocumentName name, DocumentInfo info, ArchiveMark mark, boolean guess) {
        boolean unknown = mark.generation() == 0 && guess && documents.bytes(name, info) <= GUESS_BYTES;
        KeptManifest before = unknown ? null : archive.manifest(name);
        ArchiveMark adopted = before == null ? null : adopted(info, mark, before.manifest());
        if (adopted != null) {
            return mark(name, info.id(), adopted) ? new Archived(adopted, false) : null;
        }
        return put(name, info, mark, before);
    }

    /**
     * Returns the mark for the latest generation if this server has committed it, but could not write the mark for it,
     * and the document has not changed since; otherwise null. A generation of an earlier owner does not count: that
     * owner may have been another server with other values.
     */
    private @Nullable ArchiveMark adopted(DocumentInfo info, ArchiveMark mark, Manifest manifest) {
        Generation latest = manifest.latest();
        if (latest == null
                || latest.incarnation() != mark.incarnation()
                || latest.number() <= mark.generation()
                || latest.epoch() != archive.root().epoch()
                || latest.firstSequence() != info.firstSequence()
                || latest.nextSequence() != info.nextSequence()) {
            return null;
        }
        try (SnapshotReader snapshot = archive.read(manifest.name(), latest)) {
            return snapshot.header().attributes().equals(info.attributes().portable())
                    ? Archive.mark(latest, info.attributes())
                    : null;
        }
    }

    private @Nullable Archived put(
            DocumentName name, DocumentInfo info, ArchiveMark mark, @Nullable KeptManifest before) {
        long newest = before == null ? 0 : before.manifest().lastGeneration();
        // Generation numbers must increase even if the archive has lost the manifest, or the mark refers to another
        // archive.
        Snapshot snapshot = archive.putSnapshot(
                name,
                info,
                mark.incarnation(),
                1 + Math.max(newest, mark.generation()),
                clock,
                reader -> documents.snapshot(name, reader));
        if (snapshot == null) {
            return null;
        }
        Generation put = snapshot.generation();
        archive.commit(before, name, put);
        return mark(name, info.id(), snapshot.mark()) ? new Archived(snapshot.mark(), true) : null;
    }

    /** Writes a mark, and waits until it is durable; returns false when the document no longer exists. */
    private boolean mark(DocumentName name, long id, ArchiveMark mark) {
        return Outcome.<Boolean>await(
                outcome -> documents.writeLocal(name, document -> document.mark(id, mark), outcome));
    }

    /**
     * Puts a tombstone, unless the archive already has it, or has a newer document with that name. Returns whether it
     * was put.
     */
    boolean upload(DeletionRecord deletion) {
        boolean put = retryConflicts(attempt -> putTombstone(deletion));
        documents.deletionArchived(deletion);
        return put;
    }

    /**
     * Puts a tombstone, even if the archive has no generation of the document, or only generations of an earlier,
     * since-deleted document with the same name. An upload whose response was lost may still be in progress, and its
     * commit must find a changed manifest.
     */
    private boolean putTombstone(DeletionRecord deletion) {
        KeptManifest before = archive.manifest(deletion.name());
        Manifest manifest = before == null ? null : before.manifest();
        Tombstone known = manifest == null ? null : manifest.tombstone();
        if (known != null && known.incarnation() == deletion.incarnation()
                || manifest != null && isSucceeded(manifest)) {
            return false;
        }
        archive.commit(
                before,
                deletion.name(),
                new Tombstone(deletion.incarnation(), deletion.nextSequence(), deletion.deletedAtMillis()));
        return true;
    }

    /** Whether a new document with the same name exists and is already in the archive. */
    private boolean isSucceeded(Manifest manifest) {
        DocumentInfo local = documents.peek(manifest.name());
        ArchiveMark mark = local == null ? null : local.attributes().archived();
        Generation latest = manifest.latest();
        return mark != null && latest != null && latest.incarnation() == mark.incarnation();
    }
}
