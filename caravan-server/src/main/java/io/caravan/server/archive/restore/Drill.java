package io.caravan.server.archive.restore;

import io.caravan.CaravanException;
import io.caravan.ListStore;
import io.caravan.catalog.DocumentName;
import io.caravan.server.archive.Archive;
import io.caravan.server.archive.Archive.KeptManifest;
import io.caravan.server.archive.Verification;
import io.caravan.server.archive.format.ArchiveException;
import io.caravan.server.archive.format.ArchiveException.Reason;
import io.caravan.server.archive.format.Generation;
import io.caravan.server.archive.format.Manifest;
import io.caravan.server.archive.restore.DocumentRestorer.Source;
import io.caravan.server.archive.restore.Drills.DrillReport;
import io.caravan.server.document.ArchiveMark;
import io.caravan.server.document.DocumentException;
import io.caravan.server.document.DocumentInfo;
import io.caravan.server.document.DocumentService;
import io.caravan.server.document.EditedDocument;
import io.caravan.server.document.Outcome;
import io.caravan.server.document.ScanPage;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * A {@link Verification} that restores a random sample of an archive's documents to a scratch store, to prove that a
 * restore works. Each document is read back and compared with its manifest, and with the live document where their
 * sequences overlap. The drill also checks that the archive contains the documents in an equally large sample of live
 * documents.
 *
 * <p>Runs on the calling thread, and costs the server no more than one reader. It ends soon after the thread is
 * interrupted.
 */
final class Drill {
    private final Archive archive;
    private final DocumentService live;
    private final RandomGenerator random;
    private final List<String> failures = new ArrayList<>();
    private long documents;
    private long values;

    /** @param live the live documents, which are archived in this archive */
    Drill(Archive archive, DocumentService live, RandomGenerator random) {
        this.archive = archive;
        this.live = live;
        this.random = random;
    }

    /**
     * Runs the drill with this number of documents, or with all if there are fewer. Call this once.
     *
     * @param scratch an empty store, which is empty again afterwards
     * @throws CaravanException when the archive cannot be listed
     */
    DrillReport run(ListStore scratch, int sample, InstantSource clock) {
        try (DocumentService restored = DocumentService.offline(scratch)) {
            Verification.sample(
                    archive, sample, random, (manifest, latest) -> check(manifest, latest, restored), failures::add);
        }
        requireArchived(sample);
        return new DrillReport(documents, values, failures, clock.millis());
    }

    /**
     * Checks that the archive contains a sample of the live documents that are marked as archived, because the
     * configured archive may be empty, the wrong one, or an older copy.
     */
    private void requireArchived(int sample) {
        int first = random.nextInt(DocumentService.STRIPES);
        int left = sample;
        for (int i = 0; i < DocumentService.STRIPES && left > 0; i++) {
            for (ScanPage.Found found : live.stripe((first + i) % DocumentService.STRIPES)) {
                ArchiveMark mark = found.info().attributes().archived();
                if (mark != null
                        && mark.generation() > 0
                        && left-- > 0
                        && !Thread.currentThread().isInterrupted()) {
                    requireArchived(found, mark);
                }
            }
        }
    }

    private void requireArchived(ScanPage.Found found, ArchiveMark mark) {
        try {
            KeptManifest kept = archive.manifest(found.name());
            DocumentInfo still = live.peek(found.name());
            boolean same = still != null && still.id() == found.info().id();
            if (same && (kept == null || !hasReached(kept.manifest(), mark))) {
                failures.add("document '" + found.name() + "' was archived, and the archive does not have it");
            }
        } catch (CaravanException problem) {
            if (!Thread.currentThread().isInterrupted()) {
                failures.add(String.valueOf(problem.getMessage()));
            }
        }
    }

    /** Whether the document exists in the archive, in the state of the mark or a later one. */
    private static boolean hasReached(Manifest manifest, ArchiveMark mark) {
        Generation latest = manifest.latest();
        return manifest.tombstone() == null
                && latest != null
                && latest.incarnation() == mark.incarnation()
                && latest.number() >= mark.generation();
    }

    /** Restores a generation to the scratch store, and reads it back. */
    private void check(Manifest manifest, Generation latest, DocumentService restored) {
        DocumentName name = manifest.name();
        documents++;
        Outcome.<Restored>await(outcome -> new DocumentRestorer(() -> archive, restored, bytes -> {})
                .create(Source.of(manifest, latest), outcome));
        values += latest.count();
        String difference = difference(name, latest, restored);
        Outcome.<Boolean>await(outcome -> restored.write(name, EditedDocument::delete, outcome));
        if (difference != null) {
            throw new ArchiveException(
                    Reason.DIVERGED, "document '" + name + "', restored from " + latest.key() + ", " + difference);
        }
    }

    /** Returns how the restored document differs from its generation or the live document; null if it does not. */
    private @Nullable String difference(DocumentName name, Generation generation, DocumentService restored) {
        DocumentInfo now = live.peek(name);
        long from = Math.max(now == null ? 0 : now.firstSequence(), generation.firstSequence());
        long to = Math.min(now == null ? 0 : now.nextSequence(), generation.nextSequence());
        String shared = from < to ? liveHash(name, generation, from, to) : null;
        SequenceHash found = new SequenceHash(from, to, info -> true);
        DocumentInfo info = restored.peek(name);
        if (info == null || !restored.snapshot(name, found)) {
            return "does not exist";
        }
        if (info.firstSequence() != generation.firstSequence()
                || info.nextSequence() != generation.nextSequence()
                || found.count() != generation.count()
                || found.bytes() != generation.valueBytes()) {
            return "has the sequences " + info.firstSequence() + " to " + info.nextSequence() + " and " + found.bytes()
                    + " bytes; its manifest says " + generation.firstSequence() + " to " + generation.nextSequence()
                    + " and " + generation.valueBytes();
        }
        return shared == null || shared.equals(found.finish())
                ? null
                : "has other values than the live document between the sequences " + from + " and " + to;
    }

    /**
     * Hashes values of the live document, if it belongs to the generation's incarnation and has all of these values.
     * Returns null otherwise.
     */
    private @Nullable String liveHash(DocumentName name, Generation generation, long from, long to) {
        SequenceHash hash = new SequenceHash(from, to, info -> {
            ArchiveMark mark = info.attributes().archived();
            return mark != null && mark.incarnation() == generation.incarnation() && info.firstSequence() <= from;
        });
        try {
            return live.snapshot(name, hash) && hash.count() > 0 ? hash.finish() : null;
        } catch (DocumentException changing) {
            // The live values are being removed, so there is nothing to compare.
            return null;
        }
    }
}
