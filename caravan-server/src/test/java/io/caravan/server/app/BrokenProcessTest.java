package io.caravan.server.app;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.server.net.FatalErrors;
import io.caravan.testing.ChildJvm;
import io.caravan.testing.Eventually;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the exit of a process after an error in one of its threads. */
@Tag("slow")
class BrokenProcessTest {
    @TempDir
    private Path directory;

    private ChildJvm start(String problem) throws IOException {
        return ChildJvm.start(BrokenProcess.class.getName(), List.of(problem), directory.resolve("output"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"memory", "caught memory"})
    void outOfMemoryErrorEndsProcessAndIsReported(String problem) throws Exception {
        ChildJvm process = start(problem);
        assertThat(process.awaitExit()).isEqualTo(FatalErrors.EXIT_STATUS);
        assertThat(process.output())
                .contains("the process ends with status 3, because it cannot continue: a-thread failed")
                .contains("OutOfMemoryError: as a test has it")
                .doesNotContain("continues");
    }

    /** Neither a stack overflow nor a shutdown that hangs may prevent the process from ending on SIGTERM. */
    @Test
    void survivesStackOverflowAndExitsDespiteHangingStop() throws Exception {
        try (ChildJvm process = start("stack")) {
            Eventually.await("it continues", () -> hasContinued(process));
            process.terminate();
            assertThat(process.awaitExit()).isOne();
        }
    }

    private static boolean hasContinued(ChildJvm process) {
        try {
            return process.output().contains("continues");
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }
}
