package io.caravan.testing;

import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Determines the number of rounds of a test that could run any number of them. {@code mvn verify} runs few, so that it
 * is fast. The Maven profile {@code thorough} runs many.
 *
 * <p>Tests that use this class have the tag {@code rounds}, which the profile selects. Tests that run only in the
 * profile have the tag {@code thorough}.
 */
public final class Rounds {
    /** The value of the system property that sets the number of rounds of every test. */
    private static final @Nullable Integer WANTED = Integer.getInteger("caravan.rounds");

    private static final boolean THOROUGH = Boolean.getBoolean("caravan.thorough");

    private Rounds() {}

    /**
     * Returns the value of {@code -Dcaravan.rounds} if it is set; otherwise {@code thorough} in the {@code thorough}
     * profile, and {@code quick} without the profile.
     */
    public static int of(int quick, int thorough) {
        if (WANTED != null) {
            return WANTED;
        }
        return THOROUGH ? thorough : quick;
    }

    /** Returns one in {@code share} of the cases, selected by the seed. In the profile, returns all of them. */
    public static <T> List<T> oneIn(int share, List<T> cases, long seed) {
        int step = THOROUGH ? 1 : share;
        int first = Math.floorMod(seed, step);
        return IntStream.range(0, cases.size())
                .filter(i -> i % step == first)
                .mapToObj(cases::get)
                .toList();
    }
}
