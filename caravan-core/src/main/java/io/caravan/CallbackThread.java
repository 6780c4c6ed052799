package io.caravan;

import io.caravan.engine.SerialThread;
import java.util.concurrent.CompletableFuture;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Calls callbacks, one after the other, on a thread of its own: the store thread of a {@link MemoryListStore}.
 *
 * <p>Callbacks run apart from the writer, and never under the store's lock, so that a test against the memory store
 * meets the same threading as production does.
 */
final class CallbackThread {
    private static final Logger LOG = LoggerFactory.getLogger(CallbackThread.class);
    /** Set on the thread that calls a callback, while it does. */
    private static final ThreadLocal<Boolean> CALLING = new ThreadLocal<>();

    private final String storeName;
    private final SerialThread thread;

    CallbackThread(String storeName) {
        this.storeName = storeName;
        this.thread = new SerialThread("caravan-" + storeName + "-callbacks");
    }

    /** Notifies the callback of its success, after all those that were given before. */
    void success(WriteCallback callback, long sequence) {
        thread.execute(() -> call(callback, sequence));
    }

    /** Whether this thread is calling a callback of some memory store. */
    static boolean isCurrent() {
        return CALLING.get() != null;
    }

    private void call(WriteCallback callback, long sequence) {
        CALLING.set(true);
        try {
            callback.success(sequence);
        } catch (Throwable thrown) {
            LOG.error("A write's callback of {} threw; the write itself is done", storeName, thrown);
        } finally {
            CALLING.remove();
        }
    }

    /** Completes when everything given before has been called. */
    CompletableFuture<Void> calledSoFar() {
        return CompletableFuture.runAsync(() -> {}, thread);
    }

    /** A wait for this thread, made on this thread, would never end. */
    void refuseHere(String method) {
        if (thread.isCurrent()) {
            throw new IllegalStateException(method + " was called on the store thread of " + storeName
                    + ", from a callback; hand it to a thread of your own");
        }
    }

    /** Ends the thread once it has called what it was given. */
    void end() {
        thread.close();
    }
}
