package io.caravan.server.archive;

import io.caravan.server.archive.Archive.KeptManifest;
import io.caravan.server.archive.ArchiveWalk.NamedObjects;
import io.caravan.server.archive.Verification.VerificationReport;
import io.caravan.server.archive.format.ArchiveException;
import io.caravan.server.archive.format.ArchiveException.Reason;
import io.caravan.server.archive.format.ArchiveKeys;
import io.caravan.server.archive.format.Generation;
import io.caravan.server.archive.format.Manifest;
import io.caravan.server.archive.format.SnapshotReader;
import io.caravan.server.archive.object.ObjectStore.Listed;
import io.caravan.server.archive.object.ObjectStoreException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;

/**
 * Reads an entire archive, while its owner may be writing: every manifest, and every byte of every snapshot that a
 * manifest names. Changes nothing. Not thread-safe; starts other threads.
 */
public final class Verification {
    /** The number of bytes of a snapshot after which progress is reported. */
    private static final long TELL_BYTES = 1 << 20;

    private final Archive archive;
    private final VerificationListener listener;
    private final LongAdder documents = new LongAdder();
    private final LongAdder deleted = new LongAdder();
    private final LongAdder generations = new LongAdder();
    private final LongAdder bytes = new LongAdder();
    private final LongAdder faults = new LongAdder();
    private final LongAdder leftovers = new LongAdder();
    private final LongAdder leftoverBytes = new LongAdder();
    private final LongAdder unknown = new LongAdder();

    private Verification(Archive archive, VerificationListener listener) {
        this.archive = archive;
        this.listener = listener;
    }

    /**
     * Verifies an archive.
     *
     * @param jobs number of documents to verify at a time
     * @throws ObjectStoreException when the objects cannot be listed; objects that cannot be read are faults
     */
    public static VerificationReport verify(Archive archive, int jobs, VerificationListener listener) {
        return new Verification(archive, listener).run(jobs);
    }

    private VerificationReport run(int jobs) {
        try (Pipeline<List<String>> pipeline = new Pipeline<>(jobs, messages -> messages.forEach(listener::fault))) {
            ArchiveWalk.forEach(archive.objects(), listed -> pipeline.submit(() -> verify(listed)));
            pipeline.finish();
        }
        return new VerificationReport(
                documents.sum(),
                deleted.sum(),
                generations.sum(),
                bytes.sum(),
                faults.sum(),
                leftovers.sum(),
                leftoverBytes.sum(),
                unknown.sum());
    }

    /** Verifies the objects of one name and returns the faults. Called on any thread. */
    private List<String> verify(NamedObjects listed) {
        List<String> found = new ArrayList<>();
        try {
            KeptManifest kept = archive.manifestAt(listed.manifestKey());
            if (kept != null) {
                verify(kept.manifest(), found);
            }
            for (Listed snapshot : listed.unnamed(kept == null ? null : kept.manifest())) {
                if (ArchiveKeys.parseSnapshot(snapshot.key()) == null) {
                    unknown.increment();
                } else {
                    leftovers.increment();
                    leftoverBytes.add(snapshot.bytes());
                }
            }
        } catch (ArchiveException | ObjectStoreException problem) {
            found.add(String.valueOf(problem.getMessage()));
        }
        faults.add(found.size());
        return found;
    }

    private void verify(Manifest manifest, List<String> found) {
        documents.increment();
        deleted.add(manifest.tombstone() == null ? 0 : 1);
        checkEpoch(manifest, found);
        for (Generation generation : manifest.generations()) {
            try {
                read(manifest, generation);
                generations.increment();
                bytes.add(generation.objectBytes());
            } catch (ArchiveException | ObjectStoreException problem) {
                if (!isPruned(manifest, generation, problem)) {
                    found.add(String.valueOf(problem.getMessage()));
                }
            }
        }
    }

    /** Checks that the epoch is not above the root's, unless a server has claimed the archive in the meantime. */
    private void checkEpoch(Manifest manifest, List<String> found) {
        if (manifest.epoch() > archive.root().epoch()
                && manifest.epoch() > Archive.open(archive.objects()).root().epoch()) {
            found.add("the manifest " + archive.objects().location() + "/" + ArchiveKeys.manifest(manifest.name())
                    + " of document '" + manifest.name() + "' was written by owner number " + manifest.epoch()
                    + ", and " + ArchiveKeys.ROOT + " knows of less: it is an old copy; put the newest back");
        }
    }

    private void read(Manifest manifest, Generation generation) {
        try (SnapshotReader snapshot = archive.read(manifest.name(), generation)) {
            long bytes = 0;
            while (snapshot.next()) {
                bytes += snapshot.value().remaining();
                if (bytes >= TELL_BYTES) {
                    listener.read(0, bytes);
                    bytes = 0;
                }
            }
            listener.read(1, bytes);
        }
    }

    /** Whether the generation was removed after the manifest was read. */
    private boolean isPruned(Manifest manifest, Generation generation, RuntimeException problem) {
        if (!(problem instanceof ArchiveException missing) || missing.reason() != Reason.NOT_FOUND) {
            return false;
        }
        KeptManifest now = archive.manifest(manifest.name());
        return now == null || !now.manifest().generations().contains(generation);
    }

    public interface VerificationListener {
        /**
         * Called for each fault, on the thread that called {@link #verify}. The message names the object, the document
         * and what to do.
         */
        void fault(String message);

        /** Called on any thread with the numbers of snapshots read to the end and of bytes read since the last call. */
        default void read(long snapshots, long bytes) {}
    }

    /**
     * The contents of an archive, as verified.
     *
     * @param documents manifests, of existing and of deleted documents
     * @param deleted manifests that record a deletion
     * @param generations snapshots that manifests name and that are intact
     * @param bytes the size of these snapshots
     * @param faults number of faults
     * @param leftovers snapshots that no manifest names, which pruning removes or which are just being archived; not
     *     faults
     * @param leftoverBytes the size of the leftovers
     * @param unknown objects that do not belong to an archive; not faults
     */
    public record VerificationReport(
            long documents,
            long deleted,
            long generations,
            long bytes,
            long faults,
            long leftovers,
            long leftoverBytes,
            long unknown) {}
}
