package io.caravan.testing;

import io.caravan.ListInfo;
import io.caravan.ListStore;
import java.util.List;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;

/** Everything that a quiet store says of its lists, to compare before and after, or with the model. */
public record StoreContents(SortedMap<Long, ListContents> lists) {

    /** What one list holds. */
    public record ListContents(ListInfo info, List<Value> values) {}

    /** Asks the store, which nobody may be writing to. */
    public static StoreContents of(ListStore store) {
        SortedMap<Long, ListContents> lists = new TreeMap<>();
        store.forEachList(id -> {
            ListInfo info = Objects.requireNonNull(store.info(id), "a listed list has an info");
            lists.put(id, new ListContents(info, StoreCalls.values(store, id)));
        });
        return new StoreContents(lists);
    }
}
