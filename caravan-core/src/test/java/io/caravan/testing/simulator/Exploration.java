package io.caravan.testing.simulator;

import io.caravan.testing.Seeds;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A program whose threads interleave as a seed decides, by an {@link Interleaver}, with switch points in the classes under
 * test. The program is a class with the static method {@code explore(long seed)}, which throws when something is wrong.
 */
public final class Exploration {
    private final Method explore;

    /**
     * Prepares a program.
     *
     * @param edits by which the product is sabotaged; none for the product as it is
     * @param folder an empty one, for what is compiled
     * @param classes those in whose middle threads switch
     */
    public Exploration(Class<?> program, List<SourceEdit> edits, Path folder, Class<?>... classes)
            throws IOException, ReflectiveOperationException {
        explore = SabotagedBuild.of(edits, folder)
                .interleaving(classes)
                .loadClass(program.getName())
                .getDeclaredMethod("explore", long.class);
        explore.setAccessible(true);
    }

    /** Explores one interleaving for each of so many seeds, or the one whose seed is to be repeated. */
    public void run(int seeds) {
        Seeds.forEach(seeds, this::explore);
    }

    /** The first of so many seeds whose interleaving ends wrong, and how; null when all are right. */
    public @Nullable String firstFailure(long firstSeed, int seeds) throws Exception {
        for (long seed = firstSeed; seed < firstSeed + seeds; seed++) {
            try {
                explore(seed);
            } catch (AssertionError wrong) {
                return "seed " + seed + ": "
                        + wrong.getMessage().lines().findFirst().orElse("");
            }
        }
        return null;
    }

    private void explore(long seed) throws Exception {
        try {
            explore.invoke(null, seed);
        } catch (InvocationTargetException thrown) {
            if (thrown.getCause() instanceof Error wrong) {
                throw wrong;
            }
            throw (Exception) thrown.getCause();
        }
    }
}
