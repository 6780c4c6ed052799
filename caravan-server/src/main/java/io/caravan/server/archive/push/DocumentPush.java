package io.caravan.server.archive.push;

import io.caravan.CaravanException;
import io.caravan.catalog.DocumentName;
import io.caravan.server.archive.Archive;
import io.caravan.server.archive.Archive.KeptManifest;
import io.caravan.server.archive.format.Generation;
import io.caravan.server.archive.format.Manifest;
import io.caravan.server.archive.format.SnapshotHeader;
import io.caravan.server.archive.format.SnapshotReader;
import io.caravan.server.archive.object.ObjectStoreException;
import io.caravan.server.archive.push.Archiver.Archived;
import io.caravan.server.document.ArchiveMark;
import io.caravan.server.document.DocumentException;
import io.caravan.server.document.DocumentInfo;
import io.caravan.server.document.DocumentService;
import io.caravan.server.document.Waiting;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Puts documents into an archive, in the steps that make it safe to fail after each: a mark with an incarnation, the
 * snapshot, the manifest, the mark that says what is archived. Any thread that may wait; for one name one at a time.
 */
final class DocumentPush {
    /** Each conflict means that somebody else has just changed the manifest. So many in a row are not bad luck. */
    private static final int ATTEMPTS = 5;
    /**
     * A document of up to this size that was never archived is assumed to have no manifest: being wrong costs little.
     */
    private static final long GUESS_BYTES = 64 * 1024;

    private final DocumentService documents;
    private final Archive archive;
    private final Survey survey;
    private final InstantSource clock;
    private final LongSupplier random;

    /**
     * A way into an archive.
     *
     * @param archive is claimed
     * @param survey knows whether marks can be believed
     * @param random gives incarnations
     */
    DocumentPush(DocumentService documents, Archive archive, Survey survey, InstantSource clock, LongSupplier random) {
        this.documents = documents;
        this.archive = archive;
        this.survey = survey;
        this.clock = clock;
        this.random = random;
    }

    /**
     * Archives a document if it has changed since it was.
     *
     * @return null when there is no such document (any more)
     */
    @Nullable
    Archived push(DocumentName name) {
        boolean guess = true;
        for (int left = ATTEMPTS; ; left--) {
            DocumentInfo info = documents.peek(name);
            ArchiveMark mark = info == null ? null : marked(name, info);
            if (info == null || mark == null) {
                return null;
            }
            if (info.archived() && (survey.verified() || holds(name, mark))) {
                return new Archived(mark, false);
            }
            try {
                return push(name, info, mark, guess);
            } catch (ObjectStoreException | DocumentException meanwhile) {
                if (left == 1 || !changedMeanwhile(meanwhile)) {
                    throw meanwhile;
                }
                guess = false;
            }
        }
    }

    /** Whether the archive has what the mark says. */
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

    private static boolean changedMeanwhile(CaravanException problem) {
        return problem instanceof ObjectStoreException objects && objects.kind() == ObjectStoreException.Kind.CONFLICT
                || problem instanceof DocumentException document
                        && document.reason() == DocumentException.Reason.CHANGED_MEANWHILE;
    }

    /** The document's mark; it gets one if it has none. Null when the document is gone. */
    private @Nullable ArchiveMark marked(DocumentName name, DocumentInfo info) {
        ArchiveMark mark = info.attributes().archived();
        if (mark != null) {
            return mark;
        }
        ArchiveMark first = ArchiveMark.first(random.getAsLong());
        return mark(name, info.id(), first) ? first : null;
    }

    private @Nullable Archived push(DocumentName name, DocumentInfo info, ArchiveMark mark, boolean guess) {
        boolean unknown = mark.generation() == 0 && guess && documents.bytes(info) <= GUESS_BYTES;
        KeptManifest before = unknown ? null : archive.manifest(name);
        Generation lost = before == null ? null : unmarked(before.manifest(), mark);
        if (lost != null) {
            ArchiveMark adopted = adopted(name, info, lost);
            if (adopted != null) {
                return mark(name, info.id(), adopted) ? new Archived(adopted, false) : null;
            }
        }
        return put(name, info, mark, before);
    }

    /**
     * A generation of the document that this server has committed and the mark does not know of, because it could not
     * be written. One that an earlier owner has committed is none: it may have been another server that did not know
     * what this one has, and whose values are others.
     */
    private @Nullable Generation unmarked(Manifest manifest, ArchiveMark mark) {
        Generation latest = manifest.latest();
        return latest != null
                        && latest.incarnation() == mark.incarnation()
                        && latest.number() > mark.generation()
                        && latest.epoch() == archive.root().epoch()
                ? latest
                : null;
    }

    /** The mark that such a generation should have left, or null when the document has changed since. */
    private @Nullable ArchiveMark adopted(DocumentName name, DocumentInfo info, Generation lost) {
        if (lost.firstSequence() != info.firstSequence() || lost.nextSequence() != info.nextSequence()) {
            return null;
        }
        try (SnapshotReader snapshot = archive.read(name, lost)) {
            return snapshot.header().attributes().equals(info.attributes().portable()) ? markOf(lost, info) : null;
        }
    }

    private @Nullable Archived put(
            DocumentName name, DocumentInfo info, ArchiveMark mark, @Nullable KeptManifest before) {
        long last = before == null ? 0 : before.manifest().lastGeneration();
        // An archive that has lost the manifest, or is not the one that the mark is about, must not begin anew.
        long number = 1 + Math.max(last, mark.generation());
        DocumentSnapshot snapshot =
                new DocumentSnapshot(documents, clock, info.id(), header(name, info, mark.incarnation(), number));
        Generation put;
        try {
            put = archive.putSnapshot(snapshot.expected(), snapshot);
        } catch (DocumentSnapshot.GoneException gone) {
            return null;
        }
        archive.commit(before, with(name, before, put));
        ArchiveMark after = markOf(put, snapshot.taken());
        return mark(name, snapshot.taken().id(), after) ? new Archived(after, true) : null;
    }

    private SnapshotHeader header(DocumentName name, DocumentInfo info, long incarnation, long generation) {
        return new SnapshotHeader(
                archive.root().store(),
                name,
                incarnation,
                generation,
                archive.root().epoch(),
                info.firstSequence(),
                info.nextSequence(),
                clock.millis(),
                info.attributes().portable());
    }

    private Manifest with(DocumentName name, @Nullable KeptManifest before, Generation added) {
        List<Generation> generations =
                new ArrayList<>(before == null ? List.of() : before.manifest().generations());
        generations.add(added);
        return new Manifest(archive.root().store(), name, archive.root().epoch(), added.number(), generations, null);
    }

    private static ArchiveMark markOf(Generation generation, DocumentInfo info) {
        return new ArchiveMark(
                generation.incarnation(),
                generation.number(),
                generation.firstSequence(),
                generation.nextSequence(),
                generation.takenAtMillis(),
                info.attributes().portableHash());
    }

    /** Waits until the mark is durable; returns false when the document is gone. */
    private boolean mark(DocumentName name, long id, ArchiveMark mark) {
        return Waiting.to(outcome -> documents.mark(name, id, mark, outcome));
    }
}
