package io.caravan.server.archive;

import io.caravan.server.archive.format.ArchiveKeys;
import io.caravan.server.archive.object.ObjectStore;
import io.caravan.server.archive.object.ObjectStore.Listed;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Goes through all objects of an archive, name by name: lists manifests and snapshots at the same time and joins them. In
 * memory are a few pages of both, and the objects of one name.
 *
 * <p>Both lists are in the order of their keys' bytes, but not in the same: {@code a} is before {@code a-b}, and {@code
 * a-b/} before {@code a/}. So a manifest waits until no name follows that begins with its own and goes before it as a
 * folder.
 */
final class ArchiveWalk {
    private final Listing manifests;
    private final Listing snapshots;
    private final Deque<Listed> waiting = new ArrayDeque<>();
    private @Nullable Listed nextManifest;
    private @Nullable Listed nextSnapshot;
    private long newestMillis = Long.MIN_VALUE;

    private ArchiveWalk(Listing manifests, Listing snapshots) {
        this.manifests = manifests;
        this.snapshots = snapshots;
    }

    /**
     * Tells of every name.
     *
     * @return when the newest of all these objects was put, by the object store's own clock
     */
    static long forEach(ObjectStore objects, Consumer<NamedObjects> action) {
        try (Listing manifests = new Listing(objects, ArchiveKeys.MANIFESTS);
                Listing snapshots = new Listing(objects, ArchiveKeys.SNAPSHOTS)) {
            return new ArchiveWalk(manifests, snapshots).join(action);
        }
    }

    private long join(Consumer<NamedObjects> action) {
        nextManifest = seen(manifests.next());
        nextSnapshot = seen(snapshots.next());
        Listed manifest = manifest();
        while (manifest != null || nextSnapshot != null) {
            String named = manifest == null ? null : name(manifest, ArchiveKeys.MANIFESTS);
            String foldered = nextSnapshot == null ? null : name(nextSnapshot, ArchiveKeys.SNAPSHOTS);
            if (foldered == null || named != null && folder(named).compareTo(folder(foldered)) < 0) {
                action.accept(new NamedObjects(String.valueOf(named), true, List.of()));
                manifest = manifest();
            } else {
                boolean both = foldered.equals(named);
                action.accept(new NamedObjects(foldered, both, snapshotsOf(foldered)));
                manifest = both ? manifest() : manifest;
            }
        }
        return newestMillis;
    }

    /** The next manifest, in the order of folders. */
    private @Nullable Listed manifest() {
        while (nextManifest != null
                && (waiting.isEmpty() || folder(waiting.getFirst().key()).compareTo(folder(nextManifest.key())) > 0)) {
            waiting.push(nextManifest);
            nextManifest = seen(manifests.next());
        }
        return waiting.poll();
    }

    private List<Listed> snapshotsOf(String form) {
        List<Listed> objects = new ArrayList<>();
        while (nextSnapshot != null && name(nextSnapshot, ArchiveKeys.SNAPSHOTS).equals(form)) {
            objects.add(nextSnapshot);
            nextSnapshot = seen(snapshots.next());
        }
        return objects;
    }

    private @Nullable Listed seen(@Nullable Listed listed) {
        if (listed != null) {
            newestMillis = Math.max(newestMillis, listed.modifiedMillis());
        }
        return listed;
    }

    private static String folder(String name) {
        return name + "/";
    }

    private static String name(Listed listed, String folder) {
        String name = listed.key().substring(folder.length());
        int end = name.indexOf('/');
        return end < 0 ? name : name.substring(0, end);
    }
}
