package io.caravan.server.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.caravan.server.net.Transport;
import io.caravan.testing.ChildJvm;
import io.caravan.testing.Eventually;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class WarmUpTest {
    @TempDir
    Path parent;

    @Test
    void leavesNoFiles() {
        WarmUp.run(Transport.NIO, parent);
        assertThat(parent).isEmptyDirectory();
    }

    @Test
    void toleratesMissingDirectory() {
        assertThatCode(() -> WarmUp.run(Transport.NIO, parent.resolve("missing")))
                .doesNotThrowAnyException();
        assertThat(parent).isEmptyDirectory();
    }

    /** A server whose store cannot be opened exits during the warm-up, and may be restarted again and again. */
    @Test
    void processThatExitsLeavesNoFiles(@TempDir Path logs) throws Exception {
        try (ChildJvm child = ChildJvm.start(
                List.of("-XX:TieredStopAtLevel=1"),
                ExitingProcess.class.getName(),
                List.of(parent.toString()),
                Map.of(),
                logs.resolve("log"))) {
            assertThat(child.awaitExit()).isEqualTo(ExitingProcess.EXIT_CODE);
        }
        assertThat(parent).isEmptyDirectory();
    }

    /** Exits as soon as the warm-up has opened its store. */
    static final class ExitingProcess {
        static final int EXIT_CODE = 7;

        private ExitingProcess() {}

        public static void main(String[] arguments) {
            Path parent = Path.of(arguments[0]);
            new Thread(() -> WarmUp.run(Transport.NIO, parent)).start();
            Eventually.await("the store is open", () -> hasStore(parent));
            System.exit(EXIT_CODE);
        }

        private static boolean hasStore(Path parent) {
            try (Stream<Path> files = Files.walk(parent)) {
                return files.anyMatch(Files::isRegularFile);
            } catch (IOException | UncheckedIOException changing) {
                return false;
            }
        }
    }
}
