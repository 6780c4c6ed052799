package io.caravan.server.document.space;

import io.caravan.catalog.Catalog;
import io.caravan.catalog.DocumentName;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * All spaces, in the order of their prefixes, and how far the documents in them are counted. The spaces never change.
 *
 * <p>All that lies between a prefix and a name that begins with it, begins with it too. So of the prefixes that are not
 * behind a name, the last one either begins the name, or is within the space that does.
 */
final class SpaceTable {
    static final SpaceTable EMPTY = new SpaceTable();

    private final Space[] spaces;
    /** The documents of the stripes before this one are counted; changes under the lock of the stripe before. */
    private volatile int countedStripes;

    private SpaceTable() {
        spaces = new Space[0];
    }

    /**
     * A table of these spaces.
     *
     * @param before the last one: if it has the same prefixes, its documents are in the same spaces, and are counted
     */
    SpaceTable(
            SortedMap<Prefix, SpaceSettings> settings,
            Promise server,
            Function<Prefix, Activity> activities,
            SpaceTable before) {
        spaces = new Space[settings.size()];
        boolean same = before.counted()
                && before.all().stream().map(Space::prefix).toList().equals(List.copyOf(settings.keySet()));
        countedStripes = same ? Catalog.STRIPES : 0;
        int count = 0;
        Space last = null;
        for (Map.Entry<Prefix, SpaceSettings> each : settings.entrySet()) {
            Prefix prefix = each.getKey();
            while (last != null && !prefix.startsWith(last.prefix())) {
                last = last.around();
            }
            last = new Space(
                    prefix,
                    each.getValue(),
                    server,
                    activities.apply(prefix),
                    last,
                    this,
                    same ? before.spaces[count] : null);
            spaces[count++] = last;
        }
    }

    boolean isEmpty() {
        return spaces.length == 0;
    }

    /** In the order of their prefixes. */
    List<Space> all() {
        return List.of(spaces);
    }

    /** The space with the longest prefix that the name begins with, or null. */
    @Nullable
    Space find(DocumentName name) {
        int from = 0;
        int to = spaces.length;
        while (from < to) {
            int middle = (from + to) >>> 1;
            if (spaces[middle].prefix().isAfter(name)) {
                to = middle;
            } else {
                from = middle + 1;
            }
        }
        Space space = from == 0 ? null : spaces[from - 1];
        while (space != null && !space.prefix().begins(name)) {
            space = space.around();
        }
        return space;
    }

    boolean counted(int stripe) {
        return stripe < countedStripes;
    }

    /** Whether all documents are counted. */
    boolean counted() {
        return countedStripes == Catalog.STRIPES;
    }

    /** Notes that the documents of a stripe are counted; called for each, in order, under its lock. */
    void nowCounted(int stripe) {
        countedStripes = stripe + 1;
    }
}
