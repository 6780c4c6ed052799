package io.caravan.server.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.ListStore;
import io.caravan.server.app.SmallFiles;
import io.caravan.server.cli.client.CommandRun;
import io.caravan.server.cli.common.Console;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

/** The exit codes of commands whose output cannot be written. */
class CommandOutputTest {
    @TempDir
    private Path directory;

    private final StringWriter err = new StringWriter();
    private Path store;

    @BeforeEach
    void makeStore() {
        store = directory.resolve("store");
        try (ListStore made = SmallFiles.open(store)) {
            made.append(1, new byte[] {1}).join();
        }
    }

    /** Returns a stream that fails on every write, like a full disk or a closed output. */
    private static OutputStream broken(String problem) {
        return new OutputStream() {
            @Override
            public void write(int b) throws IOException {
                throw new IOException(problem);
            }
        };
    }

    private CommandLine caravan(String problem) {
        Console console = new Console(InputStream.nullInputStream(), broken(problem), Map.of(), false);
        return Main.commandLine(Map.of(), console).setErr(CommandRun.withoutProgress(err));
    }

    private int run(String problem, String... words) {
        err.getBuffer().setLength(0);
        return caravan(problem).execute(words);
    }

    private void assertToldOnce() {
        assertThat(err.toString().lines().filter(line -> line.startsWith("caravan: ")))
                .singleElement()
                .asString()
                .contains("the output cannot be written");
    }

    @TestFactory
    Stream<DynamicTest> helpThatCannotBeWrittenIsAFailure() {
        List<List<String>> commands = new ArrayList<>();
        collect(caravan("unused"), List.of(), commands);
        assertThat(commands).contains(List.of("verify"), List.of("archive", "prune"), List.of("serve"));
        return commands.stream()
                .map(words -> DynamicTest.dynamicTest("caravan " + String.join(" ", words), () -> {
                    String[] help =
                            Stream.concat(words.stream(), Stream.of("--help")).toArray(String[]::new);
                    assertThat(run("No space left on device", help)).isEqualTo(1);
                    assertToldOnce();
                }));
    }

    private static void collect(CommandLine command, List<String> words, List<List<String>> to) {
        if (command.getCommandSpec().findOption("--help") != null) {
            to.add(words);
        }
        command.getSubcommands()
                .forEach((name, sub) -> collect(
                        sub, Stream.concat(words.stream(), Stream.of(name)).toList(), to));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "verify STORE",
                "verify STORE --json",
                "repair STORE --dry-run",
                "salvage STORE NEW",
                "salvage STORE NEW --json",
                "dump STORE",
                "log STORE",
                "serve --print-config",
                "generate-completion"
            })
    void aResultThatCannotBeWrittenIsAFailure(String line) {
        String[] words = line.replace("STORE", store.toString())
                .replace("NEW", directory.resolve("new").toString())
                .split(" ");
        assertThat(run("No space left on device", words)).isEqualTo(1);
        assertToldOnce();
    }

    @Test
    void doctorWhoseFindingsCannotBeWrittenFails() {
        assertThat(run("No space left on device", "doctor", "--data", store.toString()))
                .isEqualTo(1);
        assertThat(err.toString()).contains("the output cannot be written");
    }

    @Test
    void aStoreIsSalvagedToTheEndThoughItsLossesCannotBeTold() throws IOException {
        Path damaged = directory.resolve("damaged");
        try (ListStore made = SmallFiles.open(damaged)) {
            made.append(1, new byte[1000]).join();
            made.checkpoint();
        }
        try (Stream<Path> files = Files.list(damaged)) {
            for (Path file :
                    files.filter(any -> !any.toString().endsWith(".ckp")).toList()) {
                Files.delete(file);
            }
        }
        Path salvaged = directory.resolve("salvaged");
        assertThat(run("No space left on device", "salvage", damaged.toString(), salvaged.toString()))
                .isEqualTo(1);
        assertToldOnce();
        SmallFiles.open(salvaged).close();
    }

    @Test
    void damageKeepsItsExitCodeThoughItCannotBeTold() {
        assertThat(run("Broken pipe", "verify", directory.resolve("none").toString()))
                .isNotZero();
    }
}
