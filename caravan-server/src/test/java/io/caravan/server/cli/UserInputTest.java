package io.caravan.server.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.server.cli.client.CommandRun;
import io.caravan.server.cli.client.ServedStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the messages about files and names that a user gives and that cannot be used. */
class UserInputTest {
    @TempDir
    private Path directory;

    /** Runs a command in which FILE stands for a file, and returns everything that it prints. */
    private String failure(String command, Path file) throws IOException {
        try (ServedStore served = new ServedStore(config -> config.withHttp(ServedStore.http()))) {
            String line = command.replace("FILE", file.toString()).replace("URL", served.url());
            CommandRun run = CommandRun.with(Map.of("CARAVAN_SERVER", served.address()), new byte[0])
                    .run(null, line.split(" "));
            assertThat(run.exitCode()).as(line).isNotZero();
            return run.out() + run.err();
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "import FILE",
                "import --from URL/v1/stream --names FILE",
                "get d --password-file FILE",
                "get d --tls-ca FILE",
                "check --password-file FILE",
                "check --tls-ca FILE",
                "support --out NEW --log FILE",
                "support --out NEW --config FILE",
                "support --out NEW --password-file FILE",
                "cluster add d --cluster-file FILE",
                "serve --config FILE",
                "doctor --config FILE",
                "serve --auth-file FILE",
                "serve --password-file FILE",
                "serve --tls-cert FILE --tls-key FILE",
                "serve --cluster-file FILE --cluster-node a"
            })
    void namesDirectoryThatIsNoFile(String command) throws IOException {
        String line = command.replace("NEW", directory.resolve("new").toString());
        assertThat(failure(line, directory)).contains(directory.toString(), "it is a directory");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "import FILE",
                "import --from URL/v1/stream --names FILE",
                "get d --password-file FILE",
                "get d --tls-ca FILE",
                "check --password-file FILE",
                "check --tls-ca FILE",
                "support --out NEW --log FILE",
                "support --out NEW --password-file FILE",
                "serve --password-file FILE"
            })
    void namesMissingFile(String command) throws IOException {
        String line = command.replace("NEW", directory.resolve("new").toString());
        Path absent = directory.resolve("absent");
        assertThat(failure(line, absent))
                .contains("there is no file '" + absent + "'")
                .doesNotContain("java.");
    }

    @ParameterizedTest
    @ValueSource(strings = {"export --out FILE", "support --out FILE"})
    void namesMissingDirectory(String command) throws IOException {
        Path absent = directory.resolve("absent");
        assertThat(failure(command, absent.resolve("file"))).contains("there is no directory '" + absent + "'");
    }

    @ParameterizedTest
    @ValueSource(strings = {"get d --password-file FILE", "serve --password-file FILE", "serve --config FILE"})
    void namesFileThatIsNotText(String command) throws IOException {
        Path file = Files.write(directory.resolve("file"), new byte[] {(byte) 0xFF});
        assertThat(failure(command, file)).contains(file + " is not text in UTF-8");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "append NAME v",
                "get NAME",
                "tail NAME",
                "trim NAME --keep 1",
                "rm NAME",
                "stat NAME",
                "export NAME",
                "copy NAME --to 127.0.0.1:1",
                "move NAME --to 127.0.0.1:1",
                "archive NAME",
                "archive ls NAME",
                "restore NAME",
                "restore d --as NAME",
                "dump DIR NAME"
            })
    void rejectsInvalidName(String command) {
        for (String name : new String[] {"", "x".repeat(1025)}) {
            String[] words = command.split(" ");
            Arrays.setAll(words, i -> words[i].equals("NAME") ? name : words[i]);
            assertThat(CommandRun.at(null, words)
                            .exits(2, "a document's name must have 1 to 1024 bytes, has " + name.length())
                            .err())
                    .hasLineCount(1);
        }
    }

    @Test
    void demoStartsNoNodeOfMissingCluster() {
        Path absent = directory.resolve("absent");
        CommandRun.at(null, "cluster", "demo", absent.toString(), "--start", "a")
                .exits(2, "there is no cluster in '" + absent + "'");
        assertThat(absent).doesNotExist();
    }
}
