package io.caravan.torture;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The contents of a store: its lists, by id. */
class Contents {
    private final Map<Long, ListModel> lists = new HashMap<>();

    Map<Long, ListModel> lists() {
        return lists;
    }

    @Nullable
    ListModel list(long id) {
        return lists.get(id);
    }

    int length(long id) {
        ListModel list = lists.get(id);
        return list == null ? 0 : list.count();
    }

    long nextSequence(long id) {
        ListModel list = lists.get(id);
        return list == null ? 0 : list.nextSequence();
    }

    /** Returns the total number of retained entries. */
    long entries() {
        return lists.values().stream().mapToLong(ListModel::count).sum();
    }
}
