package io.caravan.engine;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs user code on store threads. Anything that the code throws is logged and has no other effect. This applies even
 * to an {@link Error}: a stack overflow in a callback, for example, does not affect the engine.
 */
final class CallbackRunner {
    private static final Logger LOG = LoggerFactory.getLogger(CallbackRunner.class);

    private CallbackRunner() {}

    /** Runs a user's action; {@code what} names the action in log messages. */
    static void run(String what, Runnable action) {
        try {
            action.run();
        } catch (Throwable thrown) {
            log(what, thrown);
        }
    }

    /** Logs an exception that user code has thrown. A caller that may not use a lambda catches the exception itself. */
    static void log(String what, Throwable thrown) {
        LOG.error("{} threw an exception; the store continues", what, thrown);
    }
}
