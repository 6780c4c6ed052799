package io.caravan.server.archive.push;

import io.caravan.server.archive.object.ObjectStore;
import java.io.InputStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** An object store that forwards all calls to another object store. Tests override some of them. */
public class ForwardingObjectStore implements ObjectStore {
    private final ObjectStore store;

    public ForwardingObjectStore(ObjectStore store) {
        this.store = store;
    }

    @Override
    public String location() {
        return store.location();
    }

    @Override
    public @Nullable Stored get(String key, int maxBytes) {
        return store.get(key, maxBytes);
    }

    @Override
    public InputStream open(String key) {
        return store.open(key);
    }

    @Override
    public void put(String key, Content content) {
        store.put(key, content);
    }

    @Override
    public String putIf(String key, byte[] content, @Nullable String tag) {
        return store.putIf(key, content, tag);
    }

    @Override
    public Stream<Listed> list(String prefix) {
        return store.list(prefix);
    }

    @Override
    public void delete(String key) {
        store.delete(key);
    }

    @Override
    public boolean deleteIf(String key, String tag) {
        return store.deleteIf(key, tag);
    }

    @Override
    public void close() {
        store.close();
    }
}
