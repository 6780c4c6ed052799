package io.caravan.server.app;

import io.caravan.ListStore;
import io.caravan.OutOfSpaceException;
import io.caravan.WriteBatch;
import io.caravan.WriteCallback;
import io.caravan.testing.ForwardingListStore;
import java.util.List;

/** A store that, while {@code full} is set, rejects appends that are not in a batch that also deletes a list. */
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
        List<WriteBatch.Operation> operations = batch.operations();
        if (full
                && operations.stream().anyMatch(WriteBatch.Append.class::isInstance)
                && operations.stream().noneMatch(WriteBatch.Delete.class::isInstance)) {
            throw new OutOfSpaceException("the store is full");
        }
        super.write(batch, callback);
    }
}
