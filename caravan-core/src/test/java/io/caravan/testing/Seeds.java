package io.caravan.testing;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs random tests with new seeds in every run. A failing test reports its seed, so that {@code -Dcaravan.seed=...}
 * reproduces the failure.
 */
public final class Seeds {

    /** The system property that sets the seed, to reproduce a failure. */
    public static final String PROPERTY = "caravan.seed";

    private static final Logger LOGGER = LoggerFactory.getLogger(Seeds.class);

    private Seeds() {}

    /** A test that depends only on a seed. */
    @FunctionalInterface
    public interface Body {
        void run(long seed) throws Exception;
    }

    /** Runs the body with {@code seeds} seeds or, if the system property sets a seed, once with that seed. */
    public static void forEach(int seeds, Body body) {
        Long replayed = Long.getLong(PROPERTY);
        long first = replayed != null ? replayed : System.nanoTime();
        long last = replayed != null ? replayed : first + seeds - 1;
        LOGGER.info("seeds {} to {}", first, last);
        for (long seed = first; seed <= last; seed++) {
            run(seed, body);
        }
    }

    private static void run(long seed, Body body) {
        try {
            body.run(seed);
        } catch (Exception | AssertionError failure) {
            throw new AssertionError(
                    "failed with seed " + seed + "; repeat it with -D" + PROPERTY + "=" + seed + "\n" + failure,
                    failure);
        }
    }
}
