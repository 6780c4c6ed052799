package io.caravan.bench.torture;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** What others saw of one worker's lists, and what of it has not been explained yet by a state that a list was in. */
final class Sightings {
    private final Map<Long, List<Sighting>> unexplained = new HashMap<>();

    void add(Sighting sighting) {
        unexplained.computeIfAbsent(sighting.id(), id -> new ArrayList<>()).add(sighting);
    }

    /** The list is as the contents have it up to and with the moment when so many intents were done. */
    void explain(long id, Contents contents, int done) {
        List<Sighting> open = unexplained.get(id);
        if (open != null) {
            ListModel list = contents.list(id);
            long digest = (list == null ? new ListModel(0) : list).digest();
            open.removeIf(sighting -> sighting.answered() <= done && sighting.digest() == digest);
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
