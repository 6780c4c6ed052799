package io.caravan.server.archive;

import io.caravan.server.archive.Pruning.PruneListener;
import io.caravan.server.archive.Pruning.Removal;
import java.util.ArrayList;
import java.util.List;

/** A listener that records what pruning reports. */
public final class PruneRecord implements PruneListener {
    public final List<Removal> removals = new ArrayList<>();
    public final List<String> problems = new ArrayList<>();

    @Override
    public void removed(Removal removal) {
        removals.add(removal);
    }

    @Override
    public void problem(String message) {
        problems.add(message);
    }
}
