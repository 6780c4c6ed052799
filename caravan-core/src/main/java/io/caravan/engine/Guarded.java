package io.caravan.engine;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Runs what users hand to the store: whatever it throws is logged and changes nothing. */
final class Guarded {
    private static final Logger LOG = LoggerFactory.getLogger(Guarded.class);

    private Guarded() {}

    /** Runs an action of a user's; {@code what} names it in the log. */
    static void run(String what, Runnable action) {
        try {
            action.run();
        } catch (Exception | LinkageError | AssertionError thrown) {
            LOG.error("{} threw; the store goes on", what, thrown);
        }
    }
}
