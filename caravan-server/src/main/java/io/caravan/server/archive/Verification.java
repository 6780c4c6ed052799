package io.caravan.server.archive;

import io.caravan.CaravanException;
import io.caravan.server.archive.Archive.KeptManifest;
import io.caravan.server.archive.ArchiveWalk.NamedObjects;
import io.caravan.server.archive.Verification.VerificationReport;
import io.caravan.server.archive.format.ArchiveException;
import io.caravan.server.archive.format.ArchiveException.Reason;
import io.caravan.server.archive.format.ArchiveKeys;
import io.caravan.server.archive.format.Generation;
import io.caravan.server.archive.format.Manifest;
import io.caravan.server.archive.object.ObjectStore.Listed;
import io.caravan.server.archive.object.ObjectStoreException;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;

/**
 * Checks an archive, even while its owner is writing to it. It checks either every manifest and every byte of every
 * snapshot that a manifest names, or only the latest generations of a sample of documents. Changes nothing. Not
 * thread-safe.
 */
public final class Verification {
    private final Archive archive;
    private final BiConsumer<Manifest, Generation> check;
    private final Consumer<String> faultListener;
    private final LongAdder documents = new LongAdder();
    private final LongAdder deleted = new LongAdder();
    private final LongAdder generations = new LongAdder();
    private final LongAdder bytes = new LongAdder();
    private final LongAdder faults = new LongAdder();
    private final LongAdder leftovers = new LongAdder();
    private final LongAdder leftoverBytes = new LongAdder();
    private final LongAdder unknown = new LongAdder();

    private Verification(Archive archive, BiConsumer<Manifest, Generation> check, Consumer<String> faultListener) {
        this.archive = archive;
        this.check = check;
        this.faultListener = faultListener;
    }

    /**
     * Verifies an archive. Starts other threads.
     *
     * @param jobs number of documents to verify at a time
     * @throws ObjectStoreException when the objects cannot be listed; objects that cannot be read are faults
     */
    public static VerificationReport verify(Archive archive, int jobs, VerificationListener listener) {
        BiConsumer<Manifest, Generation> read = (manifest, generation) -> {
            archive.verify(manifest.name(), generation, bytes -> listener.read(0, bytes));
            listener.read(1, 0);
        };
        return new Verification(archive, read, listener::fault).run(jobs);
    }

    /**
     * Checks the latest generations of a random sample of documents, or of all documents if there are fewer, one after
     * another on the calling thread. Deleted documents in the sample are not checked. Ends soon after the thread is
     * interrupted.
     *
     * @param check checks a generation of a document; throws a {@link CaravanException} with its fault
     * @param faultListener receives the faults, except those that an interrupt may have caused
     * @throws CaravanException when the archive cannot be listed
     */
    public static void sample(
            Archive archive,
            int sample,
            RandomGenerator random,
            BiConsumer<Manifest, Generation> check,
            Consumer<String> faultListener) {
        new Verification(archive, check, faultListener).run(sample, random);
    }

    private void run(int sample, RandomGenerator random) {
        for (String key : choose(sample, random)) {
            List<String> found = new ArrayList<>();
            try {
                KeptManifest kept = archive.manifestAt(key);
                Manifest manifest = kept == null ? null : kept.manifest();
                Generation latest = manifest == null ? null : manifest.latest();
                if (manifest != null && latest != null && manifest.tombstone() == null) {
                    verify(manifest, List.of(latest), found);
                }
            } catch (CaravanException problem) {
                found.add(String.valueOf(problem.getMessage()));
            }
            if (Thread.currentThread().isInterrupted()) {
                return;
            }
            found.forEach(faultListener);
        }
    }

    /** Chooses a uniform random sample of the keys of all manifests, by reservoir sampling. */
    private List<String> choose(int sample, RandomGenerator random) {
        List<String> chosen = new ArrayList<>();
        Iterator<String> keys = archive.manifests().iterator();
        for (long seen = 0; keys.hasNext() && !Thread.currentThread().isInterrupted(); seen++) {
            String key = keys.next();
            if (chosen.size() < sample) {
                chosen.add(key);
            } else {
                long at = random.nextLong(seen + 1);
                if (at < sample) {
                    chosen.set((int) at, key);
                }
            }
        }
        return chosen;
    }

    private VerificationReport run(int jobs) {
        try (Pipeline<List<String>> pipeline =
                new Pipeline<>(jobs, true, messages -> messages.forEach(faultListener))) {
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

    /** Verifies the objects of one name and returns their faults. May be called on any thread. */
    private List<String> verify(NamedObjects listed) {
        List<String> found = new ArrayList<>();
        try {
            KeptManifest kept = archive.manifestAt(listed.manifestKey());
            if (kept != null) {
                documents.increment();
                deleted.add(kept.manifest().tombstone() == null ? 0 : 1);
                verify(kept.manifest(), kept.manifest().generations(), found);
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

    private void verify(Manifest manifest, List<Generation> checked, List<String> found) {
        checkEpoch(manifest, found);
        for (Generation generation : checked) {
            try {
                check.accept(manifest, generation);
                generations.increment();
                bytes.add(generation.objectBytes());
            } catch (CaravanException problem) {
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
                    + ", which is above the number in " + ArchiveKeys.ROOT
                    + ": that object is an old copy; restore its newest version");
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
         * Called for each fault, on the verifying thread. The message states the object, the document, and the remedy.
         */
        void fault(String message);

        /**
         * Called on any thread with the number of snapshots read to the end, and the number of bytes read, since the
         * last call.
         */
        default void read(long snapshots, long bytes) {}
    }

    /**
     * The result of verifying an archive.
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
