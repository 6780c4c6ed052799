package io.caravan.engine;

import io.caravan.StoreFailedException;
import io.caravan.WriteCallback;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs user code on store threads. Anything that the code throws is logged and has no other effect. This applies even
 * to an {@link Error}: a stack overflow in a callback, for example, does not affect the engine.
 */
final class CallbackRunner {
    private static final Logger LOG = LoggerFactory.getLogger(CallbackRunner.class);

    private CallbackRunner() {}

    /** Reports success to a write's callback. Uses no lambda, because this runs for every write. */
    static void success(WriteCallback callback, long sequence) {
        try {
            callback.success(sequence);
        } catch (Throwable thrown) {
            log("A write's callback", thrown);
        }
    }

    /** Reports the store's failure to a write's callback. If the callback throws an exception, it is only logged. */
    static void failure(WriteCallback callback, StoreFailedException problem) {
        try {
            callback.failure(problem);
        } catch (Throwable thrown) {
            log("A write's callback", thrown);
        }
    }

    /** Runs a user's action; {@code what} names the action in log messages. */
    static void run(String what, Runnable action) {
        try {
            action.run();
        } catch (Throwable thrown) {
            log(what, thrown);
        }
    }

    private static void log(String what, Throwable thrown) {
        LOG.error("{} threw an exception; the store continues", what, thrown);
    }
}
