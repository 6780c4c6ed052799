package io.caravan.server.archive.restore;

import io.caravan.CaravanException;
import io.caravan.CorruptStoreException;
import io.caravan.OutOfSpaceException;
import io.caravan.StoreClosedException;
import io.caravan.StoreFailedException;
import io.caravan.StoreIoException;
import io.caravan.ValueTooLargeException;
import io.caravan.server.archive.Archive;
import io.caravan.server.archive.Archive.KeptManifest;
import io.caravan.server.archive.format.ArchiveException;
import io.caravan.server.archive.format.ArchiveException.Reason;
import io.caravan.server.archive.format.Generation;
import io.caravan.server.archive.format.Manifest;
import io.caravan.server.archive.format.Manifest.Tombstone;
import io.caravan.server.archive.format.SnapshotReader;
import io.caravan.server.archive.object.ObjectStoreException;
import io.caravan.server.archive.object.ObjectStoreException.Kind;
import io.caravan.server.archive.restore.WholeRestore.RestoreFault;
import io.caravan.server.document.ArchiveMark;
import io.caravan.server.document.DocumentInfo;
import io.caravan.server.document.DocumentService;
import io.caravan.server.document.EditedDocument;
import io.caravan.server.document.Outcome;
import io.caravan.server.document.Waiting;
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
        if (kept == null || isDeleted(kept.manifest())) {
            whole.deleted();
        } else {
            restoreLatest(kept.manifest(), key);
        }
    }

    /** Whether the document is deleted, which it is here from now on if an earlier restore has brought it. */
    private boolean isDeleted(Manifest manifest) {
        Tombstone tombstone = manifest.tombstone();
        if (tombstone == null) {
            return documents.deletionPending(manifest.name());
        }
        DocumentInfo local = documents.peek(manifest.name());
        ArchiveMark mark = local == null ? null : local.attributes().archived();
        if (mark != null && mark.incarnation() == tombstone.incarnation()) {
            drop(manifest);
        }
        return true;
    }

    private void drop(Manifest manifest) {
        Waiting.<Boolean>to(outcome -> documents.writeLocal(manifest.name(), EditedDocument::deleteUnnoted, outcome));
    }

    /**
     * Makes way for a generation that replaces what an earlier restore has brought, and nobody has changed since:
     * another document, or the same with other attributes, or trimmed beyond what is here. The generation is whole.
     */
    private void dropStale(Manifest manifest, Generation generation) {
        DocumentInfo local = documents.peek(manifest.name());
        ArchiveMark mark = local == null ? null : local.attributes().archived();
        if (local == null || mark == null || !local.archived()) {
            return;
        }
        boolean goesOn =
                generation.firstSequence() <= local.nextSequence() && local.nextSequence() < generation.nextSequence();
        if (mark.incarnation() != generation.incarnation() || mark.generation() < generation.number() && !goesOn) {
            verify(manifest, generation);
            drop(manifest);
        }
    }

    private void verify(Manifest manifest, Generation generation) {
        try (SnapshotReader reader = archive.read(manifest.name(), generation)) {
            boolean more = true;
            while (more) {
                more = reader.next();
            }
        }
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
        return problem instanceof ValueTooLargeException
                ? message + "; no store of this release takes it"
                : message.replace(MergePlan.AS_ANOTHER, "restore to another directory");
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
            this.reserved = whole.reserve(generation);
        }

        void run() {
            try {
                Generation generation = manifest.generations().get(index);
                if (latestDamaged == null) {
                    dropStale(manifest, generation);
                }
                restores.restore(manifest, generation, latestDamaged != null, this);
            } catch (RuntimeException problem) {
                whole.release(reserved);
                failed(problem);
            } catch (Error problem) {
                whole.release(reserved);
                whole.failed(problem);
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
        public void failure(RuntimeException problem) {
            whole.release(reserved);
            whole.later(() -> failed(problem));
        }

        private void failed(RuntimeException problem) {
            if (!(problem instanceof CaravanException) || FATAL.contains(problem.getClass())) {
                whole.failed(problem);
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
