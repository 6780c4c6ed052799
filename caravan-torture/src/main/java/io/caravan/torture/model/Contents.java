package io.caravan.torture.model;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The contents of a store: its lists, by id. */
public class Contents {
    private final Map<Long, ListModel> lists = new HashMap<>();

    public Map<Long, ListModel> lists() {
        return lists;
    }

    @Nullable
    public ListModel list(long id) {
        return lists.get(id);
    }

    public int length(long id) {
        ListModel list = lists.get(id);
        return list == null ? 0 : list.count();
    }

    public long nextSequence(long id) {
        ListModel list = lists.get(id);
        return list == null ? 0 : list.nextSequence();
    }

    /** Returns the total number of retained entries. */
    public long entries() {
        return lists.values().stream().mapToLong(ListModel::count).sum();
    }
}
