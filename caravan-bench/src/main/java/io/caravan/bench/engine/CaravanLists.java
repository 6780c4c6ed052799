package io.caravan.bench.engine;

import io.caravan.ListStore;
import io.caravan.bench.peers.PeerReader;
import io.caravan.bench.peers.PeerStore;

/** Adapts a Caravan store to the {@link PeerStore} interface. A commit waits for all earlier appends. */
public final class CaravanLists implements PeerStore {
    private final ListStore store;

    /** Wraps an open store, which {@link #close} also closes. */
    public CaravanLists(ListStore store) {
        this.store = store;
    }

    @Override
    public void append(long id, byte[] value) {
        store.append(id, value, Stores.NO_CALLBACK);
    }

    @Override
    public void commit() {
        store.flush();
    }

    @Override
    public PeerReader reader() {
        return new Reader(store);
    }

    @Override
    public void close() {
        store.close();
    }

    private record Reader(ListStore store) implements PeerReader {
        @Override
        public void read(long id, Sink sink) {
            store.get(id, (sequence, value) -> {
                sink.value(value);
                return true;
            });
        }
    }
}
