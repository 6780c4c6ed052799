package io.caravan.server.cli.migration;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.server.cli.migration.KilledMove.Step;
import io.caravan.server.cli.migration.KilledMove.Victim;
import io.caravan.testing.Eventually;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests a move of a document while a client appends to it and a process is killed. */
@Tag("slow")
@Timeout(180)
class MoveIT {
    private static final String NAME = "letters/1";
    private static final int APPENDS_A_SECOND = 2_000;
    private static final int BEFORE = 1_500;
    private static final int MORE = 50;

    @TempDir
    private Path directory;

    private Home source;
    private Home target;
    private NumberedWriter writer;

    @BeforeEach
    void start() throws IOException {
        source = new Home(directory.resolve("source"));
        target = new Home(directory.resolve("target"));
        writer = new NumberedWriter(NAME, source.port(), APPENDS_A_SECOND);
        writer.start();
        Eventually.await("a document", () -> writer.acknowledged() >= BEFORE);
    }

    @AfterEach
    void stop() throws Exception {
        writer.close();
        source.close();
        target.close();
    }

    private static Stream<Arguments> everyStepAndVictim() {
        return Stream.of(Step.values())
                .flatMap(step -> Stream.of(false, true)
                        .flatMap(responded ->
                                Stream.of(Victim.values()).map(victim -> Arguments.of(step, responded, victim))));
    }

    @ParameterizedTest
    @MethodSource("everyStepAndVictim")
    @Tag("thorough")
    void anyKillLosesAndDuplicatesNoWrite(Step step, boolean responded, Victim victim) throws Exception {
        moveWhileKilling(step, responded, victim);
    }

    @Test
    void sourceKillLosesAndDuplicatesNoWrite() throws Exception {
        moveWhileKilling(Step.REDIRECT, true, Victim.SOURCE);
    }

    private void moveWhileKilling(Step step, boolean responded, Victim victim) throws Exception {
        try (KilledMove move = new KilledMove(source, target, NAME, writer, directory.resolve("move.txt"))) {
            move.run(step, responded, victim);
        }
        long moved = writer.acknowledged();
        Eventually.await("more at the new server", () -> writer.acknowledged() >= moved + MORE);
        writer.close();
        assertThat(writer.problem()).isEmpty();
        assertThat(writer.port()).isEqualTo(target.port());
        List<String> all = IntStream.range(0, (int) writer.acknowledged())
                .mapToObj(i -> "$v" + i)
                .toList();
        assertThat(target.call("LRANGE", NAME, "0", "-1")).isEqualTo(all.toString());
        assertThat(source.call("LLEN", NAME)).startsWith("-RELOCATED 127.0.0.1:" + target.port());
    }
}
