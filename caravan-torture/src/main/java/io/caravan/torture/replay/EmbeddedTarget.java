package io.caravan.torture.replay;

import io.caravan.CaravanException;
import io.caravan.Entry;
import io.caravan.ListInfo;
import io.caravan.ListStore;
import io.caravan.WriteBatch;
import io.caravan.WriteCallback;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Stores a replayed document in an embedded store in this JVM. */
final class EmbeddedTarget implements Target {
    static final long DOCUMENT = 1;

    private final String description;
    private final Supplier<ListStore> opener;
    private @Nullable ListStore store;
    private long nextSequence;

    EmbeddedTarget(String description, Supplier<ListStore> opener) {
        this.description = description;
        this.opener = opener;
    }

    @Override
    public String description() {
        return description;
    }

    @Override
    public void open() {
        store = opener.get();
        ListInfo info = store.info(DOCUMENT);
        nextSequence = info == null ? 0 : info.nextSequence();
    }

    @Override
    public void append(byte[] entry, Acknowledgment acknowledgment) {
        store().append(DOCUMENT, entry, callback(acknowledgment));
        nextSequence++;
    }

    @Override
    public void snapshot(byte[] entry, Acknowledgment acknowledgment) {
        WriteBatch batch = WriteBatch.create().append(DOCUMENT, entry).trimTo(DOCUMENT, nextSequence);
        store().write(batch, callback(acknowledgment));
        nextSequence++;
    }

    private static WriteCallback callback(Acknowledgment acknowledgment) {
        return new WriteCallback() {
            @Override
            public void success(long sequence) {
                acknowledgment.durable();
            }

            @Override
            public void failure(CaravanException problem) {
                acknowledgment.failed(problem.toString());
            }
        };
    }

    @Override
    public List<byte[]> retained() {
        return store().read(DOCUMENT).stream().map(Entry::value).toList();
    }

    @Override
    public void kill() {
        throw new UnsupportedOperationException("this store runs in the replay's own process");
    }

    @Override
    public void shut() {
        close();
    }

    @Override
    public void close() {
        if (store != null) {
            store.close();
            store = null;
        }
    }

    private ListStore store() {
        if (store == null) {
            throw new IllegalStateException("the store is not open");
        }
        return store;
    }
}
