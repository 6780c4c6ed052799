package io.caravan.server.archive;

import io.caravan.catalog.DocumentName;
import io.caravan.server.archive.format.ArchiveKeys;
import io.caravan.server.archive.format.Manifest;
import io.caravan.server.archive.object.ObjectStore;
import io.caravan.server.archive.object.ObjectStore.Listed;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Iterates over all objects of an archive, one document name at a time. It lists manifests and snapshots page by
 * page, and joins them by name. At any time, one page of each and the objects of one name are in memory.
 *
 * <p>Both lists are in the byte order of their keys, but their orders differ: {@code a} sorts before {@code a-b}, and
 * {@code a-b/} before {@code a/}. Therefore, the walk defers a manifest while a name may follow that starts with the
 * manifest's name but sorts before it as a directory.
 */
final class ArchiveWalk {
    private final Iterator<Listed> manifests;
    private final Iterator<Listed> snapshots;
    private final Deque<Listed> waiting = new ArrayDeque<>();
    private @Nullable Listed nextManifest;
    private @Nullable Listed nextSnapshot;

    private ArchiveWalk(ObjectStore objects) {
        manifests = objects.list(ArchiveKeys.MANIFESTS).iterator();
        snapshots = objects.list(ArchiveKeys.SNAPSHOTS).iterator();
        nextManifest = next(manifests);
        nextSnapshot = next(snapshots);
    }

    /** Passes the objects of each name to an action, one name at a time. */
    static void forEach(ObjectStore objects, Consumer<NamedObjects> action) {
        new ArchiveWalk(objects).join(action);
    }

    private static @Nullable Listed next(Iterator<Listed> listed) {
        return listed.hasNext() ? listed.next() : null;
    }

    private void join(Consumer<NamedObjects> action) {
        Listed manifest = manifest();
        while (manifest != null || nextSnapshot != null) {
            String named = manifest == null ? null : name(manifest, ArchiveKeys.MANIFESTS);
            String snapshotName = nextSnapshot == null ? null : name(nextSnapshot, ArchiveKeys.SNAPSHOTS);
            if (snapshotName == null || named != null && (named + "/").compareTo(snapshotName + "/") < 0) {
                action.accept(new NamedObjects(String.valueOf(named), true, List.of()));
                manifest = manifest();
            } else {
                boolean both = snapshotName.equals(named);
                action.accept(new NamedObjects(snapshotName, both, snapshotsOf(snapshotName)));
                manifest = both ? manifest() : manifest;
            }
        }
    }

    /** Returns the next manifest, in the order of the snapshot directories. */
    private @Nullable Listed manifest() {
        while (nextManifest != null
                && (waiting.isEmpty() || (waiting.getFirst().key() + "/").compareTo(nextManifest.key() + "/") > 0)) {
            waiting.push(nextManifest);
            nextManifest = next(manifests);
        }
        return waiting.poll();
    }

    private List<Listed> snapshotsOf(String form) {
        List<Listed> objects = new ArrayList<>();
        while (nextSnapshot != null && name(nextSnapshot, ArchiveKeys.SNAPSHOTS).equals(form)) {
            objects.add(nextSnapshot);
            nextSnapshot = next(snapshots);
        }
        return objects;
    }

    private static String name(Listed listed, String directory) {
        String name = listed.key().substring(directory.length());
        int end = name.indexOf('/');
        return end < 0 ? name : name.substring(0, end);
    }

    /**
     * The listed objects of one document name.
     *
     * @param form the name as encoded in keys
     * @param manifest whether a manifest was listed
     * @param snapshots the objects in the snapshot directory of the name, in ascending order of keys
     */
    record NamedObjects(String form, boolean manifest, List<Listed> snapshots) {

        /** Returns the name, or null if it is too long to be read from keys. */
        @Nullable
        DocumentName name() {
            return ArchiveKeys.decode(form);
        }

        String manifestKey() {
            return ArchiveKeys.MANIFESTS + form;
        }

        /** Returns the objects in the name's snapshot directory that the manifest does not name. */
        List<Listed> unnamed(@Nullable Manifest kept) {
            Set<String> named = new HashSet<>();
            if (kept != null) {
                kept.generations().forEach(generation -> named.add(generation.key()));
            }
            return snapshots.stream()
                    .filter(snapshot -> !named.contains(snapshot.key()))
                    .toList();
        }
    }
}
