package io.caravan.testing.simulator;

import io.caravan.testing.Seeds;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A program whose threads an {@link Interleaver} interleaves according to a seed, with switch points in the classes
 * under test. The program is a class with the static method {@code explore(long seed)}, which throws on an error.
 */
public final class Exploration {
    private final Method explore;

    /**
     * Compiles a program with the edits and with switch points.
     *
     * @param edits edits that sabotage the product; none for the unchanged product
     * @param directory an empty directory for compiled classes
     * @param classes the classes with switch points
     */
    public Exploration(Class<?> program, List<SourceEdit> edits, Path directory, Class<?>... classes)
            throws IOException, ReflectiveOperationException {
        explore = SabotagedBuild.of(edits, directory)
                .interleaving(classes)
                .loadClass(program.getName())
                .getDeclaredMethod("explore", long.class);
        explore.setAccessible(true);
    }

    /** Explores one interleaving for each of {@code seeds} seeds, or only for the seed that is to be reproduced. */
    public void run(int seeds) {
        Seeds.forEach(seeds, this::explore);
    }

    /** Tries up to {@code seeds} seeds until one fails, and returns that seed and the failure; null if none fails. */
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
