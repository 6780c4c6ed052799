package io.caravan.server.archive;

import io.caravan.server.archive.format.ArchiveKeys;
import io.caravan.server.archive.object.ObjectStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * One run over a whole archive. Names with leftovers whose age matters are looked at again at the end, when it is known
 * what the object store's clock is at least. For one thread; it has others to help.
 */
final class Pruning {
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
}
