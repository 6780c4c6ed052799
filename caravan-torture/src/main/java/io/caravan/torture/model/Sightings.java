package io.caravan.torture.model;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Keeps each read of one worker's lists by another worker until a state of these lists matches the read. */
public final class Sightings {
    /**
     * The result of a worker's read of a list that another worker owns. The list must have had these contents at some
     * moment after the changes whose results arrived before the read was sent. A crash must not undo the changes that
     * led to these contents.
     *
     * @param completed number of the owner's intents that had a result when the read was sent
     * @param digest see {@link ListModel#digest()}
     * @param words a description, for failure reports
     */
    public record Sighting(long id, int completed, long digest, String words) {}

    private final Map<Long, List<Sighting>> unexplained = new HashMap<>();

    public void add(Sighting sighting) {
        unexplained.computeIfAbsent(sighting.id(), id -> new ArrayList<>()).add(sighting);
    }

    /** Discards the sightings that match the state of a list after {@code done} intents. */
    void explain(long id, Contents contents, int done) {
        List<Sighting> open = unexplained.get(id);
        if (open != null) {
            ListModel list = contents.list(id);
            long digest = (list == null ? new ListModel(0) : list).digest();
            open.removeIf(sighting -> sighting.completed() <= done && sighting.digest() == digest);
            if (open.isEmpty()) {
                unexplained.remove(id);
            }
        }
    }

    void explainAll(Contents contents, int done) {
        List.copyOf(unexplained.keySet()).forEach(id -> explain(id, contents, done));
    }

    List<Sighting> unexplained() {
        return unexplained.values().stream().flatMap(List::stream).toList();
    }
}
