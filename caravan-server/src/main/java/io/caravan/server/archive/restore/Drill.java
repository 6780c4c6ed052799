package io.caravan.server.archive.restore;

import io.caravan.CaravanException;
import io.caravan.ListStore;
import io.caravan.catalog.DocumentName;
import io.caravan.server.archive.Archive;
import io.caravan.server.archive.Archive.KeptManifest;
import io.caravan.server.archive.format.Generation;
import io.caravan.server.archive.format.Manifest;
import io.caravan.server.archive.restore.DocumentRestorer.Source;
import io.caravan.server.archive.restore.Drills.DrillReport;
import io.caravan.server.document.ArchiveMark;
import io.caravan.server.document.DocumentException;
import io.caravan.server.document.DocumentInfo;
import io.caravan.server.document.DocumentService;
import io.caravan.server.document.EditedDocument;
import io.caravan.server.document.ScanPage;
import io.caravan.server.document.SnapshotReceiver;
import io.caravan.server.document.Waiting;
import java.nio.ByteBuffer;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Restores a sample of an archive's documents to a scratch store, one at a time, to prove that a restore works. Each
 * document is read back and compared with its manifest, and with the live document where their sequences overlap. The
 * drill also checks that the archive has an equally large sample of live documents.
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

    /** @param live the documents that are archived in this archive */
    Drill(Archive archive, DocumentService live, RandomGenerator random) {
        this.archive = archive;
        this.live = live;
        this.random = random;
    }

    /**
     * Restores this number of documents, or all if there are fewer. Call this once.
     *
     * @param scratch an empty store, which is empty again afterwards
     * @throws CaravanException when the archive cannot be listed
     */
    DrillReport run(ListStore scratch, int sample, InstantSource clock) {
        List<String> keys = choose(sample);
        try (DocumentService restored = StoreRestore.documents(scratch)) {
            for (String key : keys) {
                if (Thread.currentThread().isInterrupted()) {
                    break;
                }
                check(key, restored);
            }
        }
        requireArchived(sample);
        return new DrillReport(documents, values, failures, clock.millis());
    }

    /**
     * Checks that the archive has a sample of the live documents marked as archived, in case it is empty or another
     * archive.
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
                    requireManifest(found);
                }
            }
        }
    }

    private void requireManifest(ScanPage.Found found) {
        try {
            KeptManifest kept = archive.manifest(found.name());
            DocumentInfo still = live.peek(found.name());
            boolean same = still != null && still.id() == found.info().id();
            if (same && (kept == null || kept.manifest().latest() == null)) {
                failures.add("document '" + found.name() + "' was archived, and the archive does not have it");
            }
        } catch (CaravanException problem) {
            failed(problem);
        }
    }

    /** Records a failure, unless an interrupt may have caused it. */
    private void failed(CaravanException problem) {
        if (!Thread.currentThread().isInterrupted()) {
            failures.add(String.valueOf(problem.getMessage()));
        }
    }

    /** Chooses a uniform random sample of all keys, by reservoir sampling. */
    private List<String> choose(int sample) {
        List<String> chosen = new ArrayList<>();
        long[] seen = {0};
        archive.manifests("", key -> {
            if (chosen.size() < sample) {
                chosen.add(key);
            } else {
                long at = random.nextLong(seen[0] + 1);
                if (at < sample) {
                    chosen.set((int) at, key);
                }
            }
            seen[0]++;
            return !Thread.currentThread().isInterrupted();
        });
        return chosen;
    }

    private void check(String key, DocumentService restored) {
        try {
            KeptManifest kept = archive.manifestAt(key);
            Manifest manifest = kept == null ? null : kept.manifest();
            Generation latest = manifest == null ? null : manifest.latest();
            if (manifest != null && latest != null && manifest.tombstone() == null) {
                documents++;
                check(manifest, latest, restored);
            }
        } catch (CaravanException problem) {
            failed(problem);
        }
    }

    private void check(Manifest manifest, Generation latest, DocumentService restored) {
        DocumentName name = manifest.name();
        Waiting.<Restored>to(outcome -> new DocumentRestorer(() -> archive, restored, bytes -> {})
                .create(Source.of(manifest, latest), outcome));
        values += latest.count();
        String difference = difference(name, latest, restored);
        if (difference != null) {
            failures.add("document '" + name + "', restored from " + latest.key() + ", " + difference);
        }
        Waiting.<Boolean>to(outcome -> restored.write(name, EditedDocument::delete, outcome));
    }

    /** Returns the difference between the restored document and its generation or the live document, or null. */
    private @Nullable String difference(DocumentName name, Generation generation, DocumentService restored) {
        LiveValues shared = new LiveValues(generation);
        try {
            live.snapshot(name, shared);
        } catch (DocumentException changing) {
            // The live values are being removed, so there is nothing to compare.
            shared.hash = null;
        }
        RestoredDocument found = new RestoredDocument(new SequenceHash(shared.from, shared.to));
        if (!restored.snapshot(name, found)) {
            return "is not there";
        }
        if (found.first != generation.firstSequence()
                || found.next != generation.nextSequence()
                || found.count != generation.count()
                || found.bytes != generation.valueBytes()) {
            return "has the sequences " + found.first + " to " + found.next + " and " + found.bytes
                    + " bytes; its manifest says " + generation.firstSequence() + " to " + generation.nextSequence()
                    + " and " + generation.valueBytes();
        }
        return shared.hash == null || shared.hash.finish().equals(found.hash.finish())
                ? null
                : "has other values than the live document between the sequences " + shared.from + " and " + shared.to;
    }

    /** Hashes the values that the live document shares with a generation of the same incarnation. */
    private static final class LiveValues implements SnapshotReceiver {
        private final Generation generation;
        private @Nullable SequenceHash hash;
        private long from;
        private long to;

        LiveValues(Generation generation) {
            this.generation = generation;
        }

        @Override
        public boolean begin(DocumentInfo info) {
            ArchiveMark mark = info.attributes().archived();
            from = Math.max(info.firstSequence(), generation.firstSequence());
            to = Math.min(info.nextSequence(), generation.nextSequence());
            boolean same = mark != null && mark.incarnation() == generation.incarnation() && from < to;
            hash = same ? new SequenceHash(from, to) : null;
            return same;
        }

        @Override
        public void next(long sequence, ByteBuffer value) {
            Objects.requireNonNull(hash).add(sequence, value);
        }
    }

    private static final class RestoredDocument implements SnapshotReceiver {
        private final SequenceHash hash;
        private long first;
        private long next;
        private long count;
        private long bytes;

        RestoredDocument(SequenceHash hash) {
            this.hash = hash;
        }

        @Override
        public boolean begin(DocumentInfo info) {
            first = info.firstSequence();
            next = info.nextSequence();
            return true;
        }

        @Override
        public void next(long sequence, ByteBuffer value) {
            count++;
            bytes += value.remaining();
            hash.add(sequence, value);
        }
    }
}
