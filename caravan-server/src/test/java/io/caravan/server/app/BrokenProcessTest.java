package io.caravan.server.app;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.server.net.FatalErrors;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A process that cannot go on ends, so that it is restarted, and one that can be stopped is. */
@Tag("slow")
class BrokenProcessTest {
    private static Process start(String problem) throws IOException {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        return new ProcessBuilder(
                        java,
                        "-XX:TieredStopAtLevel=1",
                        "-XX:+UseSerialGC",
                        "-cp",
                        System.getProperty("java.class.path"),
                        BrokenProcess.class.getName(),
                        problem)
                .redirectErrorStream(true)
                .start();
    }

    private static void awaitEnd(Process process) throws InterruptedException {
        try {
            assertThat(process.waitFor(60, TimeUnit.SECONDS)).as("it ends").isTrue();
        } finally {
            process.destroyForcibly();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"memory", "caught memory"})
    void aProcessWithoutMemoryEndsAndSaysWhy(String problem) throws Exception {
        Process process = start(problem);
        String output = new String(process.getInputStream().readAllBytes(), UTF_8);
        awaitEnd(process);
        assertThat(process.exitValue()).isEqualTo(FatalErrors.EXIT_STATUS);
        assertThat(output)
                .contains("the process ends with status 3, because it cannot go on: a-thread failed")
                .contains("OutOfMemoryError: as a test has it")
                .doesNotContain("goes on");
    }

    /** Neither a full stack nor a stop that hangs keeps the process from ending when it is told to. */
    @Test
    void whatASingleThreadSurvivesEndsNothingAndAStopThatHangsEndsInTime() throws Exception {
        Process process = start("stack");
        try (var lines = process.inputReader(UTF_8)) {
            assertThat(lines.lines().anyMatch("goes on"::equals)).isTrue();
            process.destroy();
            awaitEnd(process);
        }
        assertThat(process.exitValue()).isOne();
    }
}
