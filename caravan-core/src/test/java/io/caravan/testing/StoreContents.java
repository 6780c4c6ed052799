package io.caravan.testing;

import io.caravan.ListInfo;
import io.caravan.ListStore;
import java.util.List;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;

/** Everything that an idle store reports about its lists, for comparison with another report or with the model. */
public record StoreContents(SortedMap<Long, ListContents> lists) {

    /** The contents of one list. */
    public record ListContents(ListInfo info, List<Value> values) {}

    /** Reads the store, to which no thread may be writing. */
    public static StoreContents of(ListStore store) {
        SortedMap<Long, ListContents> lists = new TreeMap<>();
        store.forEachList(id -> {
            ListInfo info = Objects.requireNonNull(store.info(id), "a listed list has an info");
            lists.put(id, new ListContents(info, StoreCalls.values(store, id)));
        });
        return new StoreContents(lists);
    }
}
