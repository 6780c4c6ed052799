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
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Reads an archive whole, beside its owner: every manifest, and every snapshot that one names, byte by byte. Changes
 * nothing. For one thread; it has others to help.
 */
public final class Verification {
    /** How often a long snapshot tells how far it is. */
    private static final long TELL_BYTES = 1 << 20;

    private final Archive archive;
    private final VerificationListener listener;
    private final Verified total = new Verified();

    private Verification(Archive archive, VerificationListener listener) {
        this.archive = archive;
        this.listener = listener;
    }

    /**
     * Verifies an archive.
     *
     * @param jobs how many documents at a time
     * @throws ObjectStoreException when the objects cannot be listed; those that cannot be read are faults
     */
    public static VerificationReport verify(Archive archive, int jobs, VerificationListener listener) {
        return new Verification(archive, listener).run(jobs);
    }

    private VerificationReport run(int jobs) {
        try (Pipeline<Verified> pipeline = new Pipeline<>(jobs, this::take)) {
            ArchiveWalk.forEach(archive.objects(), listed -> pipeline.submit(() -> verify(listed)));
            pipeline.finish();
        }
        return total.report();
    }

    private void take(Verified one) {
        total.add(one);
        one.faults.forEach(listener::fault);
    }

    private Verified verify(NamedObjects listed) {
        Verified found = new Verified();
        try {
            KeptManifest kept = archive.manifestAt(listed.manifestKey());
            if (kept != null) {
                verify(kept.manifest(), found);
            }
            countOthers(listed, kept == null ? null : kept.manifest(), found);
        } catch (ArchiveException | ObjectStoreException problem) {
            found.fault(problem);
        }
        return found;
    }

    private void verify(Manifest manifest, Verified found) {
        found.documents++;
        found.deleted += manifest.tombstone() == null ? 0 : 1;
        checkEpoch(manifest, found);
        for (Generation generation : manifest.generations()) {
            try {
                read(manifest, generation);
                found.generations++;
                found.bytes += generation.objectBytes();
            } catch (ArchiveException | ObjectStoreException problem) {
                if (!isPruned(manifest, generation, problem)) {
                    found.fault(problem);
                }
            }
        }
    }

    /** No owner's number is above the root's, but for one that has claimed the archive meanwhile. */
    private void checkEpoch(Manifest manifest, Verified found) {
        if (manifest.epoch() > archive.root().epoch()
                && manifest.epoch() > Archive.open(archive.objects()).root().epoch()) {
            found.fault(new ArchiveException(
                    Reason.CORRUPT,
                    "the manifest " + archive.objects().location() + "/" + ArchiveKeys.manifest(manifest.name())
                            + " of document '" + manifest.name() + "' was written by owner number " + manifest.epoch()
                            + ", and " + ArchiveKeys.ROOT + " knows of less: it is an old copy; put the newest back"));
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

    /** Whether the generation was removed between the reading of the manifest and that of the snapshot. */
    private boolean isPruned(Manifest manifest, Generation generation, RuntimeException problem) {
        if (!(problem instanceof ArchiveException missing) || missing.reason() != Reason.NOT_FOUND) {
            return false;
        }
        KeptManifest now = archive.manifest(manifest.name());
        return now == null || !now.manifest().generations().contains(generation);
    }

    private static void countOthers(NamedObjects listed, @Nullable Manifest manifest, Verified found) {
        Set<String> named = new HashSet<>();
        if (manifest != null) {
            manifest.generations().forEach(generation -> named.add(generation.key()));
        }
        for (Listed snapshot : listed.snapshots()) {
            if (ArchiveKeys.parseSnapshot(snapshot.key()) == null) {
                found.unknown++;
            } else if (!named.contains(snapshot.key())) {
                found.leftovers++;
                found.leftoverBytes += snapshot.bytes();
            }
        }
    }

    /** Is told what verifying an archive comes upon. */
    public interface VerificationListener {
        /** Something is wrong; the message names object and document, and what to do. On the thread that verifies. */
        void fault(String message);

        /** Something was read: so many snapshots have come to their ends, and so many bytes. On any thread. */
        default void read(long snapshots, long bytes) {}
    }

    /**
     * What an archive was found to hold.
     *
     * @param documents manifests, of documents that are there and of those that were deleted
     * @param deleted those of them that say that their document was deleted
     * @param generations snapshots that manifests name and that are whole
     * @param bytes the size of those
     * @param faults what is wrong
     * @param leftovers snapshots that no manifest names, which pruning removes or which are being archived now; no
     *     fault
     * @param leftoverBytes the size of those
     * @param unknown objects that are no archive's; no fault
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

    /** What was found of one name, or of several. For one thread at a time. */
    static final class Verified {
        final List<String> faults = new ArrayList<>();
        long documents;
        long deleted;
        long generations;
        long bytes;
        long faultCount;
        long leftovers;
        long leftoverBytes;
        long unknown;

        void fault(RuntimeException problem) {
            faults.add(String.valueOf(problem.getMessage()));
            faultCount++;
        }

        /** Adds the numbers, not the messages. */
        void add(Verified other) {
            documents += other.documents;
            deleted += other.deleted;
            generations += other.generations;
            bytes += other.bytes;
            faultCount += other.faultCount;
            leftovers += other.leftovers;
            leftoverBytes += other.leftoverBytes;
            unknown += other.unknown;
        }

        VerificationReport report() {
            return new VerificationReport(
                    documents, deleted, generations, bytes, faultCount, leftovers, leftoverBytes, unknown);
        }
    }
}
