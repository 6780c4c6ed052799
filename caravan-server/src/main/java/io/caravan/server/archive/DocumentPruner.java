package io.caravan.server.archive;

import io.caravan.catalog.DocumentName;
import io.caravan.server.archive.Archive.KeptManifest;
import io.caravan.server.archive.ArchiveWalk.NamedObjects;
import io.caravan.server.archive.Pruning.Removal;
import io.caravan.server.archive.format.ArchiveException;
import io.caravan.server.archive.format.ArchiveKeys;
import io.caravan.server.archive.format.ArchiveKeys.SnapshotKey;
import io.caravan.server.archive.format.Generation;
import io.caravan.server.archive.format.Manifest;
import io.caravan.server.archive.object.ObjectStore;
import io.caravan.server.archive.object.ObjectStore.Listed;
import io.caravan.server.archive.object.ObjectStoreException;
import io.caravan.server.archive.object.ObjectStoreException.Kind;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Prunes the archived document with a given name, even while a server is archiving it. The order of the steps is:
 *
 * <ol>
 *   <li>Remove generations from the manifest, if it has not changed.
 *   <li>Delete their snapshots.
 *   <li>Delete the manifest, if the document has expired.
 * </ol>
 *
 * <p>A run may end between any two steps. No manifest then names the remaining objects, and the next run deletes them.
 *
 * <p>Snapshots that no manifest names are deleted in two cases:
 *
 * <ol>
 *   <li>Their generation is not above the manifest's last one: the manifest has changed since they were put, so they
 *   can no longer be committed. If the document was deleted, the snapshots must also be settled. Otherwise, an attempt
 *   to archive that assumes there is no manifest could commit them after the manifest has been deleted.
 *   <li>An earlier owner put them, and they are settled.
 * </ol>
 *
 * <p>A snapshot is settled if it was put more than a day before the newest object of the archive, by the object store's
 * own clock. No attempt to archive a document takes that long. Not thread-safe.
 */
final class DocumentPruner {
    /** Maximum number of attempts. Each conflict means that a server has just archived the document. */
    private static final int ATTEMPTS = 5;

    private final Run run;
    private NamedObjects listed;
    private final Set<String> removedKeys = new HashSet<>();
    private final List<Removal> removals = new ArrayList<>();
    private long waiting;
    private @Nullable String problem;

    DocumentPruner(Run run, NamedObjects listed) {
        this.run = run;
        this.listed = listed;
    }

    /** The parameters of a pruning run; they are the same for all document names. */
    record Run(
            ObjectStore objects,
            Manifests manifests,
            long rootEpoch,
            PrunePolicies policies,
            long nowMillis,
            boolean dryRun) {}

    /** Lists the name's objects again and prunes the name; called when {@code settledMillis} is known. */
    DocumentPruner pruneAgain(long settledMillis) {
        listed = NamedObjects.list(run.objects, listed.form(), listed.manifest());
        return prune(settledMillis);
    }

    /**
     * Prunes the archived document with this name.
     *
     * @param settledMillis objects put before this time are settled
     * @return this
     */
    DocumentPruner prune(long settledMillis) {
        for (int left = ATTEMPTS; ; left--) {
            try {
                KeptManifest kept = run.manifests.at(listed.manifestKey());
                if (kept != null || !listed.manifest()) {
                    prune(settledMillis, kept);
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

    /** Returns the removals since the last call; in a dry run, those that would take place. */
    List<Removal> takeRemovals() {
        List<Removal> taken = List.copyOf(removals);
        removals.clear();
        return taken;
    }

    /** Returns the number of snapshots that no manifest names, but that a server may still commit. */
    long waiting() {
        return waiting;
    }

    /** Returns the reason why the name could not be pruned; null if there was no problem. */
    @Nullable
    String problem() {
        return problem;
    }

    private void prune(long settledMillis, @Nullable KeptManifest kept) {
        if (kept == null) {
            removeLeftovers(null, settledMillis);
            return;
        }
        Manifest manifest = kept.manifest();
        PrunePolicy policy = run.policies.of(manifest.name());
        boolean expired = policy.expired(manifest, run.nowMillis);
        KeptManifest rest = removeGenerations(kept, expired ? List.of() : policy.kept(manifest, run.nowMillis));
        removeLeftovers(manifest, settledMillis);
        if (expired && waiting == 0 && (run.dryRun || run.manifests.delete(rest))) {
            add(new Removal(Removal.Kind.DOCUMENT, manifest.name().text(), listed.manifestKey(), 0));
        }
    }

    /** Removes all generations except {@code stay} from the manifest, then deletes their snapshots. */
    private KeptManifest removeGenerations(KeptManifest kept, List<Generation> stay) {
        Manifest manifest = kept.manifest();
        if (stay.size() == manifest.generations().size()) {
            return kept;
        }
        KeptManifest rest = run.dryRun ? kept : run.manifests.replace(kept, with(manifest, stay));
        Set<Generation> staying = new HashSet<>(stay);
        for (Generation generation : manifest.generations()) {
            if (!staying.contains(generation)) {
                remove(new Removal(
                        Removal.Kind.GENERATION, manifest.name().text(), generation.key(), generation.objectBytes()));
            }
        }
        return rest;
    }

    private static Manifest with(Manifest manifest, List<Generation> stay) {
        return new Manifest(
                manifest.store(),
                manifest.name(),
                manifest.epoch(),
                manifest.lastGeneration(),
                stay,
                manifest.tombstone());
    }

    private void removeLeftovers(@Nullable Manifest manifest, long settledMillis) {
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
            if (overtaken || settled && key.epoch() < run.rootEpoch) {
                DocumentName name = ArchiveKeys.decode(listed.form());
                String document = name == null ? listed.form() : name.text();
                remove(new Removal(Removal.Kind.LEFTOVER, document, snapshot.key(), snapshot.bytes()));
            } else {
                waiting++;
            }
        }
    }

    private void remove(Removal removal) {
        if (!run.dryRun) {
            run.objects.delete(removal.key());
        }
        add(removal);
    }

    /** Records a removal, unless an earlier attempt has recorded it. */
    private void add(Removal removal) {
        if (removedKeys.add(removal.key())) {
            removals.add(removal);
        }
    }
}
