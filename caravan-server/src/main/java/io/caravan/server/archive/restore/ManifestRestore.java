package io.caravan.server.archive.restore;

import io.caravan.CaravanException;
import io.caravan.CorruptStoreException;
import io.caravan.OutOfSpaceException;
import io.caravan.StoreClosedException;
import io.caravan.StoreFailedException;
import io.caravan.StoreIoException;
import io.caravan.ValueTooLargeException;
import io.caravan.server.archive.Archive;
import io.caravan.server.archive.ArchiveException;
import io.caravan.server.archive.ArchiveException.Reason;
import io.caravan.server.archive.KeptManifest;
import io.caravan.server.archive.format.Generation;
import io.caravan.server.archive.format.Manifest;
import io.caravan.server.archive.object.ObjectStoreException;
import io.caravan.server.archive.object.ObjectStoreException.Kind;
import io.caravan.server.document.DocumentService;
import io.caravan.server.document.Outcome;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Restores single documents for a {@link WholeRestore}, and tells it of each what came of it, once. On its threads. */
final class ManifestRestore {
    /** What makes it useless to go on with other documents. */
    private static final Set<Class<? extends CaravanException>> FATAL = Set.of(
            OutOfSpaceException.class,
            StoreFailedException.class,
            StoreIoException.class,
            StoreClosedException.class,
            CorruptStoreException.class);

    private final WholeRestore whole;
    private final Archive archive;
    private final RestoreService restores;
    private final DocumentService documents;
    private final boolean allowOlder;

    ManifestRestore(WholeRestore whole, Archive archive, DocumentService documents, boolean allowOlder) {
        this.whole = whole;
        this.archive = archive;
        this.restores = new RestoreService(() -> archive, documents, whole::moved);
        this.documents = documents;
        this.allowOlder = allowOlder;
    }

    /** Restores what the manifest with this key names. */
    void run(String key) {
        if (whole.ended()) {
            whole.left();
            return;
        }
        KeptManifest kept;
        try {
            kept = archive.manifestAt(key);
        } catch (ArchiveException | ObjectStoreException unreadable) {
            whole.fault(new RestoreFault(null, key, text(unreadable), null), unreadable);
            return;
        }
        if (kept == null || kept.manifest().tombstone() != null || isDeletedHere(kept.manifest())) {
            whole.deleted();
        } else {
            restoreLatest(kept.manifest(), key);
        }
    }

    private boolean isDeletedHere(Manifest manifest) {
        return documents.deletionPending(manifest.name());
    }

    private void restoreLatest(Manifest manifest, String key) {
        int last = manifest.generations().size() - 1;
        if (last < 0) {
            ArchiveException none = new ArchiveException(
                    Reason.NOT_FOUND,
                    "the archive has no generation of document '" + manifest.name() + "'; "
                            + Generations.describe(manifest));
            whole.fault(new RestoreFault(manifest.name(), key, text(none), null), none);
        } else {
            new Attempt(manifest, last, null).run();
        }
    }

    private static String text(RuntimeException problem) {
        String message = String.valueOf(problem.getMessage());
        return problem instanceof ValueTooLargeException ? message + "; allow longer values with --max-value" : message;
    }

    /** Restores one generation, and where it is damaged the one before it. */
    private final class Attempt implements Outcome<Restored> {
        private final Manifest manifest;
        private final int index;
        private final @Nullable RuntimeException latestDamaged;
        private final int reserved;

        /**
         * An attempt that has not begun.
         *
         * @param index which one of the generations
         * @param latestDamaged what is wrong with the latest, when this is another one
         */
        Attempt(Manifest manifest, int index, @Nullable RuntimeException latestDamaged) {
            this.manifest = manifest;
            this.index = index;
            this.latestDamaged = latestDamaged;
            Generation generation = manifest.generations().get(index);
            this.reserved = whole.reserve(SnapshotParts.bytes(generation.count(), generation.valueBytes()));
        }

        void run() {
            try {
                restores.restore(manifest, manifest.generations().get(index), latestDamaged != null, this);
            } catch (RuntimeException problem) {
                whole.release(reserved);
                failed(problem);
            }
        }

        @Override
        public void success(Restored restored) {
            whole.release(reserved);
            if (latestDamaged == null) {
                whole.answered();
                whole.restored(restored);
            } else {
                fault(latestDamaged, restored);
            }
        }

        @Override
        public void failure(CaravanException problem) {
            whole.release(reserved);
            whole.later(() -> failed(problem));
        }

        private void failed(RuntimeException problem) {
            if (!(problem instanceof CaravanException) || FATAL.contains(problem.getClass())) {
                whole.end(problem);
                whole.left();
            } else if (isDamage(problem) && allowOlder && index > 0) {
                new Attempt(manifest, index - 1, latestDamaged == null ? problem : latestDamaged).run();
            } else {
                fault(latestDamaged == null ? problem : latestDamaged, null);
            }
        }

        private void fault(RuntimeException problem, @Nullable Restored instead) {
            List<Generation> all = manifest.generations();
            String object = all.get(all.size() - 1).key();
            whole.fault(new RestoreFault(manifest.name(), object, text(problem), instead), problem);
        }
    }

    /** Whether the archive does not have the bytes that were put there, which another generation may. */
    private static boolean isDamage(RuntimeException problem) {
        if (problem instanceof ArchiveException damaged) {
            return damaged.reason() == Reason.CORRUPT || damaged.reason() == Reason.NOT_FOUND;
        }
        return problem instanceof ObjectStoreException missing
                && (missing.kind() == Kind.NOT_FOUND || missing.kind() == Kind.CORRUPT);
    }
}
