package io.caravan.server.document.space;

import io.caravan.catalog.Catalog;
import io.caravan.catalog.DocumentName;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * All spaces, in the order of their prefixes, and the progress of counting their documents. The set of spaces in a
 * table never changes.
 *
 * <p>If a name starts with a prefix, every string that sorts between the two also starts with that prefix. Therefore,
 * the last prefix that does not sort after a name is either a prefix of the name or lies within the space that contains
 * the name.
 */
final class SpaceTable {
    static final SpaceTable EMPTY = new SpaceTable();

    private final Space[] spaces;
    /** The number of stripes counted so far. Updated under the lock of the stripe that was counted last. */
    private volatile int countedStripes;

    private SpaceTable() {
        spaces = new Space[0];
    }

    /**
     * Creates a table of these spaces.
     *
     * @param before the previous table, whose counts stay valid if it has the same prefixes and is completely counted
     */
    SpaceTable(
            SortedMap<Prefix, SpaceSettings> settings,
            DocumentDurability server,
            Function<Prefix, SpaceCounters> counters,
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
                last = last.enclosing();
            }
            last = new Space(
                    prefix,
                    each.getValue(),
                    server,
                    counters.apply(prefix),
                    last,
                    this,
                    same ? before.spaces[count] : null);
            spaces[count++] = last;
        }
    }

    boolean isEmpty() {
        return spaces.length == 0;
    }

    /** Returns the spaces in the order of their prefixes. */
    List<Space> all() {
        return List.of(spaces);
    }

    /** Returns the space with the longest prefix that the name starts with, or null. */
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
            space = space.enclosing();
        }
        return space;
    }

    boolean counted(int stripe) {
        return stripe < countedStripes;
    }

    /** Whether all documents have been counted. */
    boolean counted() {
        return countedStripes == Catalog.STRIPES;
    }

    /**
     * Records that the documents in a stripe have been counted. Called for each stripe, in order, under the lock of the
     * stripe.
     */
    void nowCounted(int stripe) {
        countedStripes = stripe + 1;
    }
}
