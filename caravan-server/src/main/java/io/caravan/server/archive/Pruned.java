package io.caravan.server.archive;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What came of one name while it was pruned. For one thread at a time. */
final class Pruned {
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
