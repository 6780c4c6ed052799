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
 * Prunes one name, beside a server that may be archiving it. First the manifest gives up what is to go, if nobody has
 * changed it; then the snapshots are deleted; a manifest that is to go goes last. So it can be ended between any two
 * steps: no manifest names what is left, and the next run deletes it.
 *
 * <p>Snapshots that no manifest names are deleted in two cases:
 *
 * <ol>
 *   <li>Their generation is not above the manifest's last one: the manifest has changed since they were put, and no
 *   attempt can commit them any more. Unless the document is deleted: its manifest goes some day, perhaps before an
 *   attempt ends that has taken it for absent, and that one could. Then only if they are settled.
 *   <li>An earlier owner put them, which was fenced long ago, and they are settled.
 * </ol>
 *
 * Settled is what was put more than a day before the newest object of the archive, by the object store's own clock: no
 * attempt takes that long. For any thread, one at a time.
 */
final class DocumentPruner {
    /** Each conflict means that a server has just archived the document. So many in a row are not bad luck. */
    private static final int ATTEMPTS = 5;

    private final Run run;
    private final String form;
    private final Set<String> removedKeys = new HashSet<>();
    private final List<Removal> removals = new ArrayList<>();
    private long waiting;
    private @Nullable String problem;

    /**
     * A pruner of one name.
     *
     * @param form the name as it is in keys
     */
    DocumentPruner(Run run, String form) {
        this.run = run;
        this.form = form;
    }

    /** What all names have in common. */
    record Run(
            ObjectStore objects,
            Manifests manifests,
            long rootEpoch,
            PrunePolicies policies,
            long nowMillis,
            boolean dryRun) {}

    /**
     * Prunes the name; again, when it is known later what is settled.
     *
     * @param listed its objects, listed before now
     * @param settledMillis what was put before this time is settled
     * @return this
     */
    DocumentPruner prune(NamedObjects listed, long settledMillis) {
        for (int left = ATTEMPTS; ; left--) {
            try {
                prune(listed, settledMillis, run.manifests.at(listed.manifestKey()));
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

    String form() {
        return form;
    }

    /** What was removed, or would be, since this was last asked. */
    List<Removal> takeRemovals() {
        List<Removal> taken = List.copyOf(removals);
        removals.clear();
        return taken;
    }

    /** The number of snapshots that no manifest names and that a server may still commit. */
    long waiting() {
        return waiting;
    }

    /** Why the name could not be pruned, or null. */
    @Nullable
    String problem() {
        return problem;
    }

    private void prune(NamedObjects listed, long settledMillis, @Nullable KeptManifest kept) {
        if (kept == null) {
            removeLeftovers(listed, null, settledMillis);
            return;
        }
        Manifest manifest = kept.manifest();
        PrunePolicy policy = run.policies.of(manifest.name());
        boolean expired = policy.expired(manifest, run.nowMillis);
        KeptManifest rest = giveUp(kept, expired ? List.of() : policy.kept(manifest, run.nowMillis));
        removeLeftovers(listed, manifest, settledMillis);
        if (expired && waiting == 0 && (run.dryRun || run.manifests.delete(rest))) {
            add(new Removal(Removal.Kind.DOCUMENT, manifest.name().text(), listed.manifestKey(), 0));
        }
    }

    /** Takes the generations that do not stay out of the manifest, then deletes them. */
    private KeptManifest giveUp(KeptManifest kept, List<Generation> stay) {
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

    private void removeLeftovers(NamedObjects listed, @Nullable Manifest manifest, long settledMillis) {
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
                DocumentName name = ArchiveKeys.decode(form);
                String document = name == null ? form : name.text();
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

    /** Notes a removal, unless an earlier attempt has. */
    private void add(Removal removal) {
        if (removedKeys.add(removal.key())) {
            removals.add(removal);
        }
    }
}
