package io.caravan.server.archive.push;

import io.caravan.server.archive.object.ObjectStore;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongConsumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An object store that limits the bytes written to it per second, and reports their number. Each write reserves the
 * time that its bytes take, and the next write waits until that time has passed. Writes may use up to a tenth of a
 * second in advance, so that small objects do not wait for each other.
 */
final class PacedObjectStore implements ObjectStore {
    /** The number of bytes for which a large write reserves bandwidth at a time. */
    private static final int PORTION_BYTES = 64 * 1024;

    private static final long CREDIT_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private static final Logger LOG = LoggerFactory.getLogger(PacedObjectStore.class);

    private final ObjectStore store;
    private final long bytesPerSecond;
    private final LongConsumer written;
    /** The {@link System#nanoTime} until which earlier writes have reserved the bandwidth. */
    private long paidNanos = System.nanoTime();

    /**
     * Wraps an object store.
     *
     * @param bytesPerSecond 0 for no limit
     * @param written receives the number of bytes, on any thread
     */
    PacedObjectStore(ObjectStore store, long bytesPerSecond, LongConsumer written) {
        this.store = store;
        this.bytesPerSecond = bytesPerSecond;
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
            // Waits after the put: nothing may delay the put after the owner's check of the root.
            pay(content.length);
        } catch (InterruptedIOException stopped) {
            // The put took place. The thread stays interrupted, so its next wait ends at once.
            LOG.debug("{} was put, but the wait for its bandwidth was interrupted: {}", key, stopped.getMessage());
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
    public boolean deleteIf(String key, String tag) {
        return store.deleteIf(key, tag);
    }

    @Override
    public void close() {
        store.close();
    }

    /**
     * Waits until this number of bytes may be sent.
     *
     * @throws InterruptedIOException when the thread is interrupted; it stays interrupted
     */
    void pay(int bytes) throws InterruptedIOException {
        if (bytesPerSecond > 0) {
            long start = reserve(bytes);
            for (long wait = start - System.nanoTime(); wait > 0; wait = start - System.nanoTime()) {
                LockSupport.parkNanos(this, wait);
                if (Thread.currentThread().isInterrupted()) {
                    throw new InterruptedIOException("the archiver stops");
                }
            }
        }
        written.accept(bytes);
    }

    /** Returns the {@link System#nanoTime} at which these bytes may be sent. */
    private synchronized long reserve(int bytes) {
        long credited = System.nanoTime() - CREDIT_NANOS;
        long start = paidNanos - credited < 0 ? credited : paidNanos;
        paidNanos = start + (long) ((double) bytes / bytesPerSecond * TimeUnit.SECONDS.toNanos(1));
        return start;
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
