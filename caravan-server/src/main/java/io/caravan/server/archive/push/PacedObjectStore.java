package io.caravan.server.archive.push;

import io.caravan.server.archive.object.ObjectStore;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.util.function.LongConsumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** An object store to which no more is written than the bandwidth allows, and which tells how much it was. */
final class PacedObjectStore implements ObjectStore {
    /** What is paid for at a time. */
    private static final int PORTION_BYTES = 64 * 1024;

    private static final Logger LOG = LoggerFactory.getLogger(PacedObjectStore.class);

    private final ObjectStore store;
    private final Bandwidth bandwidth;
    private final LongConsumer written;

    PacedObjectStore(ObjectStore store, Bandwidth bandwidth, LongConsumer written) {
        this.store = store;
        this.bandwidth = bandwidth;
        this.written = written;
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
        store.put(key, out -> content.writeTo(new Paced(out)));
    }

    @Override
    public String putIf(String key, byte[] content, @Nullable String tag) {
        String put = store.putIf(key, content, tag);
        try {
            // Afterwards: nothing may come between its owner's look at the root and this put.
            pay(content.length);
        } catch (InterruptedIOException stopped) {
            // The put took place. The thread stays interrupted, which its next wait notices.
            LOG.debug("{} was put, and not waited for: {}", key, stopped.getMessage());
        }
        return put;
    }

    @Override
    public void list(String prefix, String after, Predicate<Listed> action) {
        store.list(prefix, after, action);
    }

    @Override
    public void delete(String key) {
        store.delete(key);
    }

    @Override
    public void deleteIf(String key, String tag) {
        store.deleteIf(key, tag);
    }

    @Override
    public void close() {
        store.close();
    }

    private void pay(int bytes) throws InterruptedIOException {
        bandwidth.await(bytes);
        written.accept(bytes);
    }

    private final class Paced extends FilterOutputStream {
        Paced(OutputStream out) {
            super(out);
        }

        @Override
        public void write(int value) throws IOException {
            pay(1);
            out.write(value);
        }

        @Override
        public void write(byte[] bytes, int offset, int length) throws IOException {
            for (int done = 0; done < length; done += PORTION_BYTES) {
                int portion = Math.min(PORTION_BYTES, length - done);
                pay(portion);
                out.write(bytes, offset + done, portion);
            }
        }
    }
}
