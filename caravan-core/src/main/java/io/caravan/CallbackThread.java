package io.caravan;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells callbacks, one after the other, on a thread of its own: the store thread of a {@link MemoryListStore}.
 *
 * <p>Callbacks run apart from the writer, and never under the store's lock, so that a test against the memory store
 * meets the same threading as production does. The queue is unbounded, as a memory store is anyway.
 */
final class CallbackThread {
    private static final Logger LOGGER = LoggerFactory.getLogger(CallbackThread.class);

    private final String storeName;
    private final ExecutorService executor;
    private volatile @Nullable Thread thread;

    CallbackThread(String storeName) {
        this.storeName = storeName;
        this.executor = Executors.newSingleThreadExecutor(this::newThread);
    }

    private Thread newThread(Runnable work) {
        Thread created = new Thread(work, "caravan-" + storeName + "-callbacks");
        created.setDaemon(true);
        thread = created;
        return created;
    }

    /** Tells the callback of its success, after all those that were given before. */
    void success(WriteCallback callback, long sequence) {
        executor.execute(() -> tell(callback, sequence));
    }

    private void tell(WriteCallback callback, long sequence) {
        try {
            callback.success(sequence);
        } catch (Throwable thrown) {
            LOGGER.warn("a write callback of {} threw; the write itself is done", storeName, thrown);
        }
    }

    /** Completes when everything given before has been told. */
    CompletableFuture<Void> toldSoFar() {
        return CompletableFuture.runAsync(() -> {}, executor);
    }

    /** A wait for this thread, made on this thread, would never end. */
    void refuseHere(String method) {
        if (Thread.currentThread() == thread) {
            throw new IllegalStateException(method + " was called on the store thread of " + storeName
                    + ", from a callback; hand it to a thread of your own");
        }
    }

    /** Ends the thread once it has told what it was given. */
    void end() {
        executor.shutdown();
    }
}
