package io.caravan.server.archive;

import io.caravan.catalog.DocumentName;
import io.caravan.server.archive.Archive.KeptManifest;
import io.caravan.server.archive.ArchiveWalk.NamedObjects;
import io.caravan.server.archive.format.ArchiveException;
import io.caravan.server.archive.format.ArchiveKeys;
import io.caravan.server.archive.format.ArchiveKeys.SnapshotKey;
import io.caravan.server.archive.format.Generation;
import io.caravan.server.archive.format.Manifest;
import io.caravan.server.archive.object.ObjectStore;
import io.caravan.server.archive.object.ObjectStore.Listed;
import io.caravan.server.archive.object.ObjectStoreException;
import io.caravan.server.archive.object.ObjectStoreException.Kind;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One pruning run over an entire archive, while the owner may be writing. It deletes the generations and documents that
 * the policies do not keep. If it is interrupted, the next run continues it. Not thread-safe; starts other threads.
 */
public final class Pruning {
    private static final long SETTLED_AFTER_MILLIS = Duration.ofDays(1).toMillis();

    private final Archive archive;
    private final ObjectStore objects;
    private final Policies policies;
    private final long nowMillis;
    private final boolean dryRun;
    private final PruneListener listener;
    private long documents;
    private long generations;
    private long leftovers;
    private long forgotten;
    private long bytes;
    private long waiting;
    private long undeletable;
    private long problems;

    /**
     * Prepares a pruning run.
     *
     * @param nowMillis the time from which ages are counted, in milliseconds since 1970
     * @param dryRun whether to report only, and delete nothing
     */
    public Pruning(Archive archive, Policies policies, long nowMillis, boolean dryRun, PruneListener listener) {
        this.archive = archive;
        this.objects = archive.objects();
        this.policies = policies;
        this.nowMillis = nowMillis;
        this.dryRun = dryRun;
        this.listener = listener;
    }

    /**
     * Prunes the archive. Call this or {@link #thin} once.
     *
     * @param jobs number of documents to prune at a time
     */
    public PruneReport run(int jobs) {
        // The object store's own clock: the pruner's may differ.
        // Objects that are not the archive's do not count.
        Stream<Listed> root = objects.list("")
                .dropWhile(listed -> listed.key().compareTo(ArchiveKeys.ROOT) < 0)
                .takeWhile(listed -> listed.key().equals(ArchiveKeys.ROOT));
        long newestMillis = Stream.of(root, objects.list(ArchiveKeys.MANIFESTS), objects.list(ArchiveKeys.SNAPSHOTS))
                .flatMap(listed -> listed)
                .mapToLong(Listed::modifiedMillis)
                .max()
                .orElse(Long.MIN_VALUE + SETTLED_AFTER_MILLIS);
        return run(jobs, newestMillis - SETTLED_AFTER_MILLIS, listed -> true);
    }

    /**
     * Prunes only documents that have recently changed many times: those with more snapshots than {@link
     * PrunePolicy#most} allows. It prunes one document at a time and reads no other manifests. Snapshots that it must
     * know to be settled stay.
     */
    public PruneReport thin() {
        return run(
                1,
                Long.MIN_VALUE,
                listed -> listed.snapshots().size() > policies.of(listed.name()).most());
    }

    private PruneReport run(int jobs, long settledMillis, Predicate<NamedObjects> chosen) {
        try (Pipeline<DocumentPruner> pipeline = new Pipeline<>(jobs, true, this::report)) {
            ArchiveWalk.forEach(objects, listed -> {
                documents++;
                if (chosen.test(listed)) {
                    pipeline.submit(() -> new DocumentPruner(listed, settledMillis).prune());
                }
            });
            pipeline.finish();
        }
        return new PruneReport(documents, generations, leftovers, forgotten, bytes, waiting, undeletable, problems);
    }

    private void report(DocumentPruner pruned) {
        for (Removal removal : pruned.removals.values()) {
            switch (removal.kind()) {
                case GENERATION -> generations++;
                case LEFTOVER -> leftovers++;
                case DOCUMENT -> forgotten++;
            }
            bytes += removal.bytes();
            listener.removed(removal);
        }
        waiting += pruned.waiting;
        undeletable += pruned.undeletable ? 1 : 0;
        String problem = pruned.problem;
        if (problem != null) {
            problems++;
            listener.problem(problem);
        }
        listener.done();
    }

    /** The retention policies of documents. Thread-safe. */
    @FunctionalInterface
    public interface Policies {
        /**
         * Returns the policy of a document.
         *
         * @param name null for a document whose name is too long to be read from its keys. The result for null
         *     determines only whether pruning reads the document's manifest, which contains the name.
         */
        PrunePolicy of(@Nullable DocumentName name);
    }

    /** Receives notifications during a pruning run, on the pruning thread. An exception ends the run. */
    public interface PruneListener {
        /** Called after an object has been removed or, in a dry run, for each object that would be removed. */
        void removed(Removal removal);

        /** Called when a document cannot be pruned; the message names it and its object. Pruning continues. */
        void problem(String message);

        /** Called each time that the run has finished with a document name. */
        default void done() {}
    }

    /**
     * The result of pruning, or of a dry run.
     *
     * @param documents names found
     * @param generations snapshots that are removed because their policy does not keep them
     * @param leftovers snapshots that are removed because no manifest names them
     * @param forgotten documents that are removed entirely, because they were deleted long ago
     * @param bytes the total size of the removed objects
     * @param waiting snapshots that no manifest names, but that stay because a server may be about to commit them
     * @param undeletable manifests of documents that were deleted long ago, but that stay because the object store does
     *     not support conditional deletions
     * @param problems documents that could not be pruned
     */
    public record PruneReport(
            long documents,
            long generations,
            long leftovers,
            long forgotten,
            long bytes,
            long waiting,
            long undeletable,
            long problems) {}

    /**
     * An object that pruning has removed or, in a dry run, would remove.
     *
     * @param kind the reason
     * @param document the human-readable name of the document, or the form of the name in keys
     * @param key the object
     * @param bytes the size of the object; 0 for a manifest
     */
    public record Removal(Kind kind, String document, String key, long bytes) {

        public enum Kind {
            /** A snapshot that its document's policy does not keep. */
            GENERATION,
            /** A snapshot that no manifest names, and that can no longer be committed. */
            LEFTOVER,
            /** The manifest of a deleted document that its policy no longer keeps. */
            DOCUMENT
        }
    }

    /**
     * Prunes the archived document with a given name, even while a server is archiving it. The order of the steps is:
     *
     * <ol>
     *   <li>Remove generations from the manifest, if it has not changed.
     *   <li>Delete their snapshots.
     *   <li>Delete the manifest, if the document has expired.
     * </ol>
     *
     * <p>A run may end between any two steps. No manifest then names the remaining objects, and the next run deletes
     * them.
     *
     * <p>Snapshots that no manifest names are deleted in two cases:
     *
     * <ol>
     *   <li>Their generation is not above the manifest's last one: the manifest has changed since they were put, so
     *   they can no longer be committed. If the document was deleted, the snapshots must also be settled. Otherwise, an
     *   attempt to archive that assumes there is no manifest could commit them after the manifest has been deleted.
     *   <li>An earlier owner put them, and they are settled.
     * </ol>
     *
     * <p>A snapshot is settled if it was put more than a day before the newest object of the archive, by the object
     * store's own clock. No attempt to archive a document takes that long. Not thread-safe.
     */
    final class DocumentPruner {
        /** Maximum number of attempts. Each conflict means that a server has just archived the document. */
        private static final int ATTEMPTS = 5;

        private final NamedObjects listed;
        private final long settledMillis;
        /** The removals of all attempts by their keys; in a dry run, those that would take place. */
        final Map<String, Removal> removals = new LinkedHashMap<>();
        /** The number of snapshots that no manifest names, but that a server may still commit. */
        private long waiting;
        /** Whether the manifest would have been removed if the object store supported conditional deletions. */
        private boolean undeletable;
        /** The reason why the name could not be pruned; null if there was no problem. */
        private @Nullable String problem;

        /** @param settledMillis objects put before this time are settled */
        DocumentPruner(NamedObjects listed, long settledMillis) {
            this.listed = listed;
            this.settledMillis = settledMillis;
        }

        /** Prunes the archived document with this name, and returns this. */
        DocumentPruner prune() {
            for (int left = ATTEMPTS; ; left--) {
                try {
                    KeptManifest kept = archive.manifestAt(listed.manifestKey());
                    if (kept != null || !listed.manifest()) {
                        prune(kept);
                    } else if (left == ATTEMPTS) {
                        // The state of the document's snapshots is unknown: they may be the only copy of the document.
                        problem = listed.manifestKey() + " was listed but does not exist: prune again later";
                    }
                    return this;
                } catch (ObjectStoreException conflict) {
                    if (conflict.kind() != Kind.CONFLICT) {
                        throw conflict;
                    }
                    if (left == 1) {
                        problem = conflict.getMessage() + "; it keeps changing: prune again later";
                        return this;
                    }
                } catch (ArchiveException damaged) {
                    problem = String.valueOf(damaged.getMessage());
                    return this;
                }
            }
        }

        private void prune(@Nullable KeptManifest kept) {
            if (kept == null) {
                removeLeftovers(null);
                return;
            }
            Manifest manifest = kept.manifest();
            PrunePolicy policy = policies.of(manifest.name());
            boolean expired = policy.expired(manifest, nowMillis);
            KeptManifest rest = removeGenerations(kept, expired ? List.of() : policy.kept(manifest, nowMillis));
            removeLeftovers(manifest);
            if (expired && waiting == 0) {
                undeletable = !dryRun && !objects.deleteIf(listed.manifestKey(), rest.tag());
                if (!undeletable) {
                    add(new Removal(Removal.Kind.DOCUMENT, manifest.name().text(), listed.manifestKey(), 0));
                }
            }
        }

        /** Removes all generations except {@code stay} from the manifest, then deletes their snapshots. */
        private KeptManifest removeGenerations(KeptManifest kept, List<Generation> stay) {
            Manifest manifest = kept.manifest();
            if (stay.size() == manifest.generations().size()) {
                return kept;
            }
            Manifest without = new Manifest(
                    manifest.store(),
                    manifest.name(),
                    manifest.epoch(),
                    manifest.lastGeneration(),
                    stay,
                    manifest.tombstone());
            KeptManifest rest = dryRun ? kept : archive.replace(kept, without);
            Set<Generation> removed = new LinkedHashSet<>(manifest.generations());
            stay.forEach(removed::remove);
            for (Generation generation : removed) {
                remove(new Removal(
                        Removal.Kind.GENERATION, manifest.name().text(), generation.key(), generation.objectBytes()));
            }
            return rest;
        }

        private void removeLeftovers(@Nullable Manifest manifest) {
            long last = manifest == null ? 0 : manifest.lastGeneration();
            boolean deleted = manifest != null && manifest.tombstone() != null;
            waiting = 0;
            for (Listed snapshot : listed.unnamed(manifest)) {
                SnapshotKey key = ArchiveKeys.parseSnapshot(snapshot.key());
                if (key == null) {
                    continue;
                }
                boolean settled = snapshot.modifiedMillis() < settledMillis;
                boolean overtaken = key.generation() <= last && (settled || !deleted);
                if (overtaken || settled && key.epoch() < archive.root().epoch()) {
                    DocumentName name = listed.name();
                    String document = name == null ? listed.form() : name.text();
                    remove(new Removal(Removal.Kind.LEFTOVER, document, snapshot.key(), snapshot.bytes()));
                } else {
                    waiting++;
                }
            }
        }

        private void remove(Removal removal) {
            if (!dryRun) {
                objects.delete(removal.key());
            }
            add(removal);
        }

        /** Records a removal, unless an earlier attempt has recorded it. */
        private void add(Removal removal) {
            removals.putIfAbsent(removal.key(), removal);
        }
    }
}
