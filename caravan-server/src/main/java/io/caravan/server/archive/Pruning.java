package io.caravan.server.archive;

import io.caravan.catalog.DocumentName;
import io.caravan.server.archive.DocumentPruner.Run;
import io.caravan.server.archive.Pruning.Removal;
import io.caravan.server.archive.format.ArchiveKeys;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * One pruning run over an entire archive. Names with leftovers whose age must be known are pruned again at the end,
 * when the time of the newest object is known. Not thread-safe; starts other threads.
 */
public final class Pruning {
    private static final long SETTLED_AFTER_MILLIS = Duration.ofDays(1).toMillis();
    /** Maximum number of document names that are pruned again; further names wait for the next run. */
    private static final int MAX_AGAIN = 100_000;

    private final Run run;
    private final PruneListener listener;
    private final List<DocumentPruner> again = new ArrayList<>();
    private long documents;
    private long generations;
    private long leftovers;
    private long forgotten;
    private long bytes;
    private long waiting;
    private long problems;

    Pruning(Run run, PruneListener listener) {
        this.run = run;
        this.listener = listener;
    }

    /**
     * Prunes the archive.
     *
     * @param jobs number of names to prune at a time
     * @param onlyExcess whether to prune only names with more snapshots than {@link PrunePolicy#most} allows
     */
    PruneReport run(int jobs, boolean onlyExcess) {
        long newestMillis = rootMillis();
        try (Pipeline<DocumentPruner> pipeline = new Pipeline<>(jobs, this::first)) {
            newestMillis = Math.max(newestMillis, ArchiveWalk.forEach(run.objects(), listed -> {
                documents++;
                if (!onlyExcess || listed.snapshots().size() > most(listed.form())) {
                    pipeline.submit(() -> new DocumentPruner(run, listed).prune(Long.MIN_VALUE));
                }
            }));
            pipeline.finish();
        }
        long settledMillis = newestMillis - SETTLED_AFTER_MILLIS;
        try (Pipeline<DocumentPruner> pipeline = new Pipeline<>(jobs, this::second)) {
            again.forEach(name -> pipeline.submit(() -> name.pruneAgain(settledMillis)));
            pipeline.finish();
        }
        return new PruneReport(documents, generations, leftovers, forgotten, bytes, waiting, problems);
    }

    private int most(String form) {
        DocumentName name = ArchiveKeys.decode(form);
        PrunePolicies policies = run.policies();
        return (name == null ? policies.general() : policies.of(name)).most();
    }

    /** Returns the time at which the root was written, according to the object store's own clock. */
    private long rootMillis() {
        long[] millis = {Long.MIN_VALUE};
        run.objects().list("", "", listed -> {
            millis[0] = listed.key().equals(ArchiveKeys.ROOT) ? listed.modifiedMillis() : millis[0];
            return listed.key().compareTo(ArchiveKeys.ROOT) < 0;
        });
        return millis[0];
    }

    private void first(DocumentPruner pruned) {
        report(pruned);
        if (pruned.waiting() > 0 && pruned.problem() == null) {
            if (again.size() < MAX_AGAIN) {
                again.add(pruned);
            } else {
                waiting += pruned.waiting();
            }
        }
        listener.done();
    }

    private void second(DocumentPruner pruned) {
        report(pruned);
        waiting += pruned.waiting();
    }

    private void report(DocumentPruner pruned) {
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
}
