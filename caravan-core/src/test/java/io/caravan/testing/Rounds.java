package io.caravan.testing;

import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * How much a test does that could do any amount. {@code mvn verify} does little of it, so that nobody waits; the Maven
 * profile {@code thorough} does much.
 *
 * <p>What uses this has the tag {@code rounds}, by which the profile finds it; what runs in the profile only has the
 * tag {@code thorough}.
 */
public final class Rounds {
    /** The system property that has every test do as much as it says instead. */
    private static final @Nullable Integer WANTED = Integer.getInteger("caravan.rounds");

    private static final boolean THOROUGH = Boolean.getBoolean("caravan.thorough");

    private Rounds() {}

    /** The first number in {@code mvn verify}, the second in the profile; or {@code -Dcaravan.rounds=}. */
    public static int of(int quick, int thorough) {
        if (WANTED != null) {
            return WANTED;
        }
        return THOROUGH ? thorough : quick;
    }

    /** One of so many cases, other ones for each seed; in the profile all of them. */
    public static <T> List<T> oneIn(int share, List<T> cases, long seed) {
        int step = THOROUGH ? 1 : share;
        int first = Math.floorMod(seed, step);
        return IntStream.range(0, cases.size())
                .filter(i -> i % step == first)
                .mapToObj(cases::get)
                .toList();
    }
}
