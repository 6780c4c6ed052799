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
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Iterates over all objects of an archive, one document name at a time. It lists manifests and snapshots in parallel,
 * and joins them by name. At any time, a few thousand of each and the objects of one name are in memory.
 *
 * <p>Both lists are in the byte order of their keys, but their orders differ: {@code a} sorts before {@code a-b}, and
 * {@code a-b/} before {@code a/}. Therefore, the walk defers a manifest while a name may follow that starts with the
 * manifest's name but sorts before it as a directory.
 */
final class ArchiveWalk {
    private final Listing manifests;
    private final Listing snapshots;
    private final Deque<Listed> waiting = new ArrayDeque<>();
    private @Nullable Listed nextManifest;
    private @Nullable Listed nextSnapshot;

    private ArchiveWalk(Listing manifests, Listing snapshots) {
        this.manifests = manifests;
        this.snapshots = snapshots;
    }

    /** Passes the objects of each name to an action, one name at a time. */
    static void forEach(ObjectStore objects, Consumer<NamedObjects> action) {
        try (Listing manifests = new Listing(objects, ArchiveKeys.MANIFESTS);
                Listing snapshots = new Listing(objects, ArchiveKeys.SNAPSHOTS)) {
            new ArchiveWalk(manifests, snapshots).join(action);
        }
    }

    private void join(Consumer<NamedObjects> action) {
        nextManifest = manifests.next();
        nextSnapshot = snapshots.next();
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
            nextManifest = manifests.next();
        }
        return waiting.poll();
    }

    private List<Listed> snapshotsOf(String form) {
        List<Listed> objects = new ArrayList<>();
        while (nextSnapshot != null && name(nextSnapshot, ArchiveKeys.SNAPSHOTS).equals(form)) {
            objects.add(nextSnapshot);
            nextSnapshot = snapshots.next();
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

    /**
     * Iterates over the objects of a directory. A thread lists the objects ahead, so that two directories can be read
     * in parallel; {@link #close} ends that thread. Not thread-safe.
     */
    static final class Listing implements AutoCloseable {
        private static final int AHEAD = 4_000;

        /** The listed objects; an empty element marks the end. */
        private final BlockingQueue<Optional<Listed>> listed = new ArrayBlockingQueue<>(AHEAD);

        private final Thread thread;
        private volatile boolean closed;
        private @Nullable Throwable failure;
        private boolean ended;

        Listing(ObjectStore objects, String directory) {
            thread = new Thread(() -> list(objects, directory), "caravan-archive-list");
            thread.setDaemon(true);
            thread.start();
        }

        private void list(ObjectStore objects, String directory) {
            try {
                objects.list(directory, next -> enqueue(Optional.of(next)));
            } catch (RuntimeException | Error failed) {
                failure = failed;
            }
            enqueue(Optional.empty());
        }

        /** Queues a listed object, or the end mark. Returns false when the listing is closed. */
        private boolean enqueue(Optional<Listed> next) {
            try {
                if (!closed) {
                    listed.put(next);
                }
            } catch (InterruptedException end) {
                closed = true;
            }
            return !closed;
        }

        /** Returns the next object, or null at the end. Rethrows an exception of the listing thread. */
        @Nullable
        Listed next() {
            try {
                Listed next = ended ? null : listed.take().orElse(null);
                ended = next == null;
                if (failure != null && ended) {
                    throw Pipeline.unchecked(failure);
                }
                return next;
            } catch (InterruptedException interrupted) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException("interrupted while an archive was listed", interrupted);
            }
        }

        @Override
        public void close() {
            closed = true;
            thread.interrupt();
        }
    }
}
