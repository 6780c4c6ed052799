package io.caravan.testing;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Where the tests' chance comes from: a new seed in every run, told when a test fails, so that {@code
 * -Dcaravan.seed=...} repeats the failure.
 */
public final class Seeds {

    /** The system property that repeats a run. */
    public static final String PROPERTY = "caravan.seed";

    private static final Logger LOGGER = LoggerFactory.getLogger(Seeds.class);

    private Seeds() {}

    /** A test that depends on a seed alone. */
    @FunctionalInterface
    public interface Body {
        void run(long seed) throws Exception;
    }

    /** Runs the body with so many seeds; or once, with the seed that the property names. */
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
