package io.caravan.server.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.ListStore;
import io.caravan.server.app.SmallFiles;
import io.caravan.server.cli.client.CommandRun;
import io.caravan.server.cli.client.ServedStore;
import io.caravan.server.cli.common.Console;
import java.io.IOException;
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

/** Tests the exit codes of commands whose output cannot be written. */
class CommandOutputTest {
    @TempDir
    private Path directory;

    private CommandRun last = CommandRun.with(Map.of(), new byte[0]);
    private Path store;

    @BeforeEach
    void makeStore() {
        store = directory.resolve("store");
        try (ListStore made = SmallFiles.open(store)) {
            made.append(1, new byte[] {1}).join();
        }
    }

    private CommandRun run(String problem, String... words) {
        last = CommandRun.withBrokenOutput(problem).run(null, words);
        return last;
    }

    private void assertReportedOnce() {
        assertThat(last.err().lines().filter(line -> line.startsWith("caravan: ")))
                .singleElement()
                .asString()
                .contains("the output cannot be written");
    }

    @TestFactory
    Stream<DynamicTest> failsIfHelpCannotBeWritten() {
        List<List<String>> commands = new ArrayList<>();
        collect(Main.commandLine(Map.of(), Console.system()), List.of(), commands);
        assertThat(commands).contains(List.of("verify"), List.of("archive", "prune"), List.of("serve"));
        return commands.stream()
                .map(words -> DynamicTest.dynamicTest("caravan " + String.join(" ", words), () -> {
                    String[] help = CommandRun.words(words, "--help");
                    run("No space left on device", help).exits(1);
                    assertReportedOnce();
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
    void failsIfResultCannotBeWritten(String line) {
        String[] words = line.replace("STORE", store.toString())
                .replace("NEW", directory.resolve("new").toString())
                .split(" ");
        run("No space left on device", words).exits(1);
        assertReportedOnce();
    }

    @Test
    void exportFailsOnFullDiskButNotOnBrokenPipe() {
        try (ServedStore served = new ServedStore()) {
            CommandRun.of(served, "append", "d", "x");
            last = CommandRun.withBrokenOutput("No space left on device").run(served.address(), "export");
            last.exits(1);
            assertReportedOnce();
            last = CommandRun.withBrokenOutput("Broken pipe").run(served.address(), "export");
            assertThat(last.exits(0).err()).isEmpty();
        }
    }

    @Test
    void doctorFailsIfFindingsCannotBeWritten() {
        run("No space left on device", "doctor", "--data", store.toString()).exits(1);
        assertThat(last.err()).contains("the output cannot be written");
    }

    @Test
    void salvageCompletesIfLossesCannotBeReported() throws IOException {
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
        run("No space left on device", "salvage", damaged.toString(), salvaged.toString())
                .exits(1);
        assertReportedOnce();
        SmallFiles.open(salvaged).close();
    }

    @Test
    void verifyOfMissingStoreFailsDespiteBrokenPipe() {
        assertThat(run("Broken pipe", "verify", directory.resolve("none").toString())
                        .exitCode())
                .isNotZero();
    }
}
