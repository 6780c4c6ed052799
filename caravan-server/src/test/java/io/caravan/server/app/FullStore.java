package io.caravan.server.app;

import io.caravan.ListStore;
import io.caravan.OutOfSpaceException;
import io.caravan.WriteBatch;
import io.caravan.WriteCallback;
import io.caravan.testing.ForwardingListStore;

/** A store that rejects appends while {@code full} is set. */
public class FullStore extends ForwardingListStore {
    public volatile boolean full;

    public FullStore() {
        this(ListStore.inMemory());
    }

    public FullStore(ListStore store) {
        super(store);
    }

    @Override
    public void write(WriteBatch batch, WriteCallback callback) {
        if (full && batch.operations().stream().anyMatch(WriteBatch.Append.class::isInstance)) {
            throw new OutOfSpaceException("the store is full");
        }
        super.write(batch, callback);
    }
}
