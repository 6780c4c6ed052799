package io.caravan.bench.engine;

import io.caravan.bench.peers.PeerStore;
import java.io.IOException;

/** Fills stores with lists of the same length, either one list after another or all lists together. */
final class Loader {
    private static final int BATCH = 10_000;

    private final Workload workload;
    private final int lists;
    private final int entries;

    Loader(Workload workload, int lists, int entries) {
        this.workload = workload;
        this.lists = lists;
        this.entries = entries;
    }

    /** Completes each list before it starts the next. */
    void listByList(PeerStore store) throws IOException {
        int count = lists * entries;
        for (int i = 0; i < count; i++) {
            append(store, i / entries, i);
        }
        store.commit();
    }

    /** Appends one entry to each list in turn until all are full. */
    void together(PeerStore store) throws IOException {
        int count = lists * entries;
        for (int i = 0; i < count; i++) {
            append(store, i % lists, i);
        }
        store.commit();
    }

    private void append(PeerStore store, int list, int number) throws IOException {
        store.append(list, workload.value(number));
        if (number % BATCH == BATCH - 1) {
            store.commit();
        }
    }
}
