package io.caravan.server.archive;

import io.caravan.server.archive.ArchiveWalk.NamedObjects;
import io.caravan.server.archive.Pruning.Removal;
import io.caravan.server.archive.format.ArchiveKeys;
import io.caravan.server.archive.object.ObjectStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One run over a whole archive. Names with leftovers whose age matters are looked at again at the end, when it is known
 * what the object store's clock is at least. For one thread; it has others to help.
 */
public final class Pruning {
    private static final long SETTLED_AFTER_MILLIS = Duration.ofDays(1).toMillis();
    /** Names with leftovers are few; what is more than these waits for another run. */
    private static final int MAX_AGAIN = 100_000;

    private final ObjectStore objects;
    private final DocumentPruner pruner;
    private final PruneListener listener;
    private final List<Pruned> again = new ArrayList<>();
    private long documents;
    private long generations;
    private long leftovers;
    private long forgotten;
    private long bytes;
    private long waiting;
    private long problems;

    Pruning(ObjectStore objects, DocumentPruner pruner, PruneListener listener) {
        this.objects = objects;
        this.pruner = pruner;
        this.listener = listener;
    }

    /**
     * Prunes.
     *
     * @param jobs how many names at a time
     * @param above only names with more snapshots than this
     */
    PruneReport run(int jobs, int above) {
        long newestMillis = rootMillis();
        try (Pipeline<Pruned> pipeline = new Pipeline<>(jobs, this::first)) {
            newestMillis = Math.max(newestMillis, ArchiveWalk.forEach(objects, listed -> {
                documents++;
                if (listed.snapshots().size() > above) {
                    pipeline.submit(() -> pruner.prune(listed, Long.MIN_VALUE, new Pruned(listed.form())));
                }
            }));
            pipeline.finish();
        }
        long settledMillis = newestMillis - SETTLED_AFTER_MILLIS;
        try (Pipeline<Pruned> pipeline = new Pipeline<>(jobs, this::second)) {
            for (Pruned before : again) {
                pipeline.submit(() -> pruner.prune(NamedObjects.list(objects, before.form()), settledMillis, before));
            }
            pipeline.finish();
        }
        return new PruneReport(documents, generations, leftovers, forgotten, bytes, waiting, problems);
    }

    /** When the root was put, by the object store's own clock. */
    private long rootMillis() {
        long[] millis = {Long.MIN_VALUE};
        objects.list("", "", listed -> {
            millis[0] = listed.key().equals(ArchiveKeys.ROOT) ? listed.modifiedMillis() : millis[0];
            return listed.key().compareTo(ArchiveKeys.ROOT) < 0;
        });
        return millis[0];
    }

    private void first(Pruned pruned) {
        tell(pruned);
        if (pruned.waiting() > 0 && pruned.problem() == null) {
            if (again.size() < MAX_AGAIN) {
                again.add(pruned);
            } else {
                waiting += pruned.waiting();
            }
        }
        listener.done();
    }

    private void second(Pruned pruned) {
        tell(pruned);
        waiting += pruned.waiting();
    }

    private void tell(Pruned pruned) {
        for (Removal removal : pruned.takeRemovals()) {
            switch (removal.kind()) {
                case GENERATION -> generations++;
                case LEFTOVER -> leftovers++;
                case DOCUMENT -> forgotten++;
            }
            bytes += removal.bytes();
            listener.removed(removal);
        }
        String problem = pruned.problem();
        if (problem != null) {
            problems++;
            listener.problem(problem);
        }
    }

    /** Is told what pruning does, on the thread that prunes. What it throws ends the pruning. */
    public interface PruneListener {
        /** Something was removed, or would be in a dry run. */
        void removed(Removal removal);

        /** A document cannot be pruned; the message names it and its object. The others go on. */
        void problem(String message);

        /** One more name is done. */
        default void done() {}
    }

    /**
     * What pruning has done, or would do.
     *
     * @param documents names that there were
     * @param generations snapshots that are removed because the policy does not keep them
     * @param leftovers snapshots that are removed because no manifest names them
     * @param forgotten documents of which nothing is left, as they were deleted long ago
     * @param bytes the size of everything that is removed
     * @param waiting snapshots that no manifest names, and that stay because somebody may be about to commit them
     * @param problems documents that could not be pruned
     */
    public record PruneReport(
            long documents,
            long generations,
            long leftovers,
            long forgotten,
            long bytes,
            long waiting,
            long problems) {}

    /**
     * What pruning has removed, or would remove.
     *
     * @param kind why
     * @param document the document's name for people, as far as it is known
     * @param key the object
     * @param bytes its size, 0 for a manifest
     */
    public record Removal(Kind kind, String document, String key, long bytes) {

        /** Why something is removed. */
        public enum Kind {
            /** A snapshot that the policy does not keep. */
            GENERATION,
            /** A snapshot that no manifest names, and none can name any more. */
            LEFTOVER,
            /** All that is known of a document that was deleted long ago. */
            DOCUMENT
        }
    }

    /** What came of one name while it was pruned. For one thread at a time. */
    static final class Pruned {
        private final String form;
        private final Set<String> removedKeys = new HashSet<>();
        private final List<Removal> removals = new ArrayList<>();
        private long waiting;
        private @Nullable String problem;

        Pruned(String form) {
            this.form = form;
        }

        String form() {
            return form;
        }

        /** Notes a removal, unless it has been noted before. */
        void add(Removal removal) {
            if (removedKeys.add(removal.key())) {
                removals.add(removal);
            }
        }

        /** The removals since this was asked last. */
        List<Removal> takeRemovals() {
            List<Removal> taken = List.copyOf(removals);
            removals.clear();
            return taken;
        }

        /** Snapshots that no manifest names and that are too young to be nobody's. */
        long waiting() {
            return waiting;
        }

        void waiting(long snapshots) {
            waiting = snapshots;
        }

        @Nullable
        String problem() {
            return problem;
        }

        void problem(String message) {
            problem = message;
        }
    }
}
