package io.caravan.server.archive.push;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.testing.simulator.SabotagedBuild;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Tests that the crash scenarios detect every kind of sabotage. The test prints the seed that detects it. Most of the
 * test runs only in the profile {@code thorough}.
 */
class ArchiveSabotageTest {
    private static final long SEEDS = 400;
    /** The first seed to try, for each kind of sabotage that would need many seeds if the test started with seed 1. */
    private static final Map<ArchiveSabotage, Long> FIRST_SEEDS =
            Map.of(ArchiveSabotage.NO_INCARNATION_BEFORE_THE_FIRST_UPLOAD, 33L);

    @TempDir
    private Path directory;

    /** Checks one kind of sabotage in every build, because few seeds suffice to detect it. */
    @Test
    void detectsMarkWrittenBeforeManifest() throws ReflectiveOperationException, IOException {
        assertCaught(ArchiveSabotage.THE_MARK_BEFORE_THE_MANIFEST);
    }

    @ParameterizedTest
    @EnumSource(ArchiveSabotage.class)
    void editsApplyToSource(ArchiveSabotage sabotage) throws IOException {
        assertThat(SabotagedBuild.sources(Path.of(""), sabotage.edits())).isNotEmpty();
    }

    @ParameterizedTest
    @EnumSource(ArchiveSabotage.class)
    @Tag("thorough")
    void detectsSabotage(ArchiveSabotage sabotage) throws ReflectiveOperationException, IOException {
        assertCaught(sabotage);
    }

    private void assertCaught(ArchiveSabotage sabotage) throws ReflectiveOperationException, IOException {
        Method check = SabotagedBuild.of(sabotage.edits(), directory)
                .loadClass(CrashScenario.class.getName())
                .getMethod("check", long.class);
        Throwable caught = null;
        long first = FIRST_SEEDS.getOrDefault(sabotage, 1L);
        for (long seed = first; seed < first + SEEDS && caught == null; seed++) {
            caught = failure(check, seed);
            if (caught != null) {
                System.out.println(sabotage + " is caught with seed " + seed + ": "
                        + caught.toString().lines().findFirst().orElseThrow());
            }
        }
        assertThat(caught).isInstanceOf(AssertionError.class);
    }

    private static Throwable failure(Method check, long seed) throws IllegalAccessException {
        try {
            check.invoke(null, seed);
            return null;
        } catch (InvocationTargetException failed) {
            return failed.getCause();
        }
    }
}
