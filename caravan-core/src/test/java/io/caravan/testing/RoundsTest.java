package io.caravan.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.TreeSet;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class RoundsTest {
    @Test
    void consecutiveSeedsCoverAllCases() {
        List<Integer> cases = IntStream.range(0, 100).boxed().toList();
        TreeSet<Integer> taken = new TreeSet<>();
        for (long seed = -3; seed < 4; seed++) {
            taken.addAll(Rounds.oneIn(7, cases, seed));
        }
        assertThat(taken).containsExactlyElementsOf(cases);
    }

    /** Checks that tests with rounds have a tag, because without a tag, the many rounds would never run. */
    @Test
    void testsWithRoundsHaveRoundsOrThoroughTag() throws IOException {
        for (String module : List.of("core", "cluster", "server", "bench", "torture")) {
            try (Stream<Path> files = Files.walk(Path.of("../caravan-" + module + "/src/test/java"))) {
                List<Path> counting = files.filter(file -> file.toString().endsWith("Test.java"))
                        .filter(file -> contains(file, "Rounds.of(", "Rounds.oneIn("))
                        .filter(file -> !file.endsWith("RoundsTest.java"))
                        .toList();
                assertThat(counting).allMatch(file -> contains(file, "@Tag(\"rounds\")", "@Tag(\"thorough\")"));
            }
        }
    }

    private static boolean contains(Path file, String... texts) {
        try {
            String source = Files.readString(file);
            return Stream.of(texts).anyMatch(source::contains);
        } catch (IOException unreadable) {
            throw new AssertionError(unreadable);
        }
    }
}
