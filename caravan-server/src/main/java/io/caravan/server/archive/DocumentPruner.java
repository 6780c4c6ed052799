package io.caravan.server.archive;

import io.caravan.catalog.DocumentName;
import io.caravan.server.archive.Archive.KeptManifest;
import io.caravan.server.archive.ArchiveWalk.NamedObjects;
import io.caravan.server.archive.Pruning.Pruned;
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
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Prunes one name, beside a server that may be archiving it. First the manifest gives up what is to go, on the
 * condition that nobody has changed it; then the snapshots are deleted; a manifest that is to go goes last. So it can
 * be ended between any two steps: what it leaves behind no manifest names, and the next run deletes it.
 *
 * <p>Which snapshots that no manifest names can be deleted:
 *
 * <ol>
 *   <li>Those whose generation is not above the manifest's last one, as the manifest has changed since they were put,
 *   and no attempt can commit them any more. If the manifest is to go as well, an attempt that takes it for absent
 *   could: then only those that are settled.
 *   <li>Those of an earlier owner that are settled, as it was fenced long ago.
 * </ol>
 *
 * Settled is what was put more than a day before the newest object of the archive, by the object store's own clock: no
 * attempt takes that long. For any thread.
 */
final class DocumentPruner {
    /** Each conflict means that a server has just archived the document. So many in a row are not bad luck. */
    private static final int ATTEMPTS = 5;

    private final ObjectStore objects;
    private final Manifests manifests;
    private final long rootEpoch;
    private final PrunePolicy policy;
    private final long nowMillis;
    private final boolean dryRun;

    DocumentPruner(
            ObjectStore objects,
            Manifests manifests,
            long rootEpoch,
            PrunePolicy policy,
            long nowMillis,
            boolean dryRun) {
        this.objects = objects;
        this.manifests = manifests;
        this.rootEpoch = rootEpoch;
        this.policy = policy;
        this.nowMillis = nowMillis;
        this.dryRun = dryRun;
    }

    /**
     * Prunes a name.
     *
     * @param listed its objects, listed before now
     * @param settledMillis what was put before this time is settled
     * @param pruned takes what came of it, and has what came of it before
     * @return {@code pruned}
     */
    Pruned prune(NamedObjects listed, long settledMillis, Pruned pruned) {
        for (int left = ATTEMPTS; ; left--) {
            try {
                prune(listed, settledMillis, manifests.at(listed.manifestKey()), pruned);
                return pruned;
            } catch (ObjectStoreException problem) {
                if (problem.kind() != Kind.CONFLICT) {
                    throw problem;
                }
                if (left == 1) {
                    pruned.problem(problem.getMessage() + "; it keeps changing: prune again later");
                    return pruned;
                }
            } catch (ArchiveException damaged) {
                pruned.problem(String.valueOf(damaged.getMessage()));
                return pruned;
            }
        }
    }

    private void prune(NamedObjects listed, long settledMillis, @Nullable KeptManifest kept, Pruned pruned) {
        if (kept == null) {
            pruned.waiting(removeLeftovers(listed, null, false, settledMillis, pruned));
            return;
        }
        Manifest manifest = kept.manifest();
        boolean expired = policy.expired(manifest, nowMillis);
        KeptManifest rest = giveUp(kept, expired ? List.of() : policy.kept(manifest, nowMillis), pruned);
        long waiting = removeLeftovers(listed, manifest, expired, settledMillis, pruned);
        pruned.waiting(waiting);
        if (expired && waiting == 0) {
            if (!dryRun) {
                manifests.delete(rest);
            }
            pruned.add(new Removal(Removal.Kind.DOCUMENT, manifest.name().text(), listed.manifestKey(), 0));
        }
    }

    /** Takes the generations that do not stay out of the manifest, then deletes them. */
    private KeptManifest giveUp(KeptManifest kept, List<Generation> stay, Pruned pruned) {
        Manifest manifest = kept.manifest();
        if (stay.size() == manifest.generations().size()) {
            return kept;
        }
        KeptManifest rest = dryRun ? kept : manifests.replace(kept, with(manifest, stay));
        Set<Generation> staying = new HashSet<>(stay);
        for (Generation generation : manifest.generations()) {
            if (!staying.contains(generation)) {
                remove(
                        new Removal(
                                Removal.Kind.GENERATION,
                                manifest.name().text(),
                                generation.key(),
                                generation.objectBytes()),
                        pruned);
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

    /** Returns how many are left. */
    private long removeLeftovers(
            NamedObjects listed, @Nullable Manifest manifest, boolean expired, long settledMillis, Pruned pruned) {
        Set<String> named = new HashSet<>();
        if (manifest != null) {
            manifest.generations().forEach(generation -> named.add(generation.key()));
        }
        long last = manifest == null ? 0 : manifest.lastGeneration();
        long waiting = 0;
        for (Listed snapshot : listed.snapshots()) {
            SnapshotKey key = ArchiveKeys.parseSnapshot(snapshot.key());
            if (key == null || named.contains(snapshot.key())) {
                continue;
            }
            boolean settled = snapshot.modifiedMillis() < settledMillis;
            boolean overtaken = key.generation() <= last && (settled || !expired);
            if (overtaken || settled && key.epoch() < rootEpoch) {
                remove(
                        new Removal(Removal.Kind.LEFTOVER, name(listed.form()), snapshot.key(), snapshot.bytes()),
                        pruned);
            } else {
                waiting++;
            }
        }
        return waiting;
    }

    private static String name(String form) {
        DocumentName name = ArchiveKeys.decode(form);
        return name == null ? form : name.text();
    }

    private void remove(Removal removal, Pruned pruned) {
        if (!dryRun) {
            objects.delete(removal.key());
        }
        pruned.add(removal);
    }
}
