package io.caravan.server.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.server.app.WarmUp;
import io.caravan.server.cli.ReadmeTourTest.Step;
import io.caravan.testing.FreePorts;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Tests the recipes in the documentation. One shell runs their commands with other ports, and the test compares the
 * output. {@code …} in a document stands for any text.
 */
@Tag("slow")
@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RecipesIT {
    private static final Pattern BLOCK = Pattern.compile("```console\n(.*?)```", Pattern.DOTALL);
    private static final String END = "end of the command:";

    @TempDir
    private Path directory;

    @Test
    void spaceRecipePrintsDocumentedOutput() throws Exception {
        run("server/spaces.md", "Create and change spaces", true);
    }

    @ParameterizedTest
    @Tag("thorough")
    @CsvSource({
        "operate/backup-and-restore.md, Recipes",
        "operate/monitoring.md, Recipes for a running server",
        "start.md,"
    })
    void otherRecipesPrintDocumentedOutput(String page, @Nullable String section) throws Exception {
        run(page, section, false);
    }

    private void run(String page, @Nullable String section, boolean warm) throws Exception {
        int http = FreePorts.next();
        UnaryOperator<String> port = text -> text.replace("127.0.0.1:4437", "127.0.0.1:" + http);
        run(steps(page, section, port), warm, FreePorts.next(), http);
    }

    @Test
    @Tag("thorough")
    void clusterDemoPrintsDocumentedOutput() throws Exception {
        int first = freePorts();
        UnaryOperator<String> ports = text -> text.replace("638$((", "$((" + (first - 1) + " + ")
                .replaceAll("638([123])", "@RESP$1")
                .replaceAll("648([123])", "@HTTP$1");
        run(
                steps("cluster/start.md", "Run a three-node demo", text -> {
                    String own = ports.apply(text);
                    for (int i = 1; i <= 3; i++) {
                        own = own.replace("@RESP" + i, String.valueOf(first + i - 1))
                                .replace("@HTTP" + i, String.valueOf(first + i + 99));
                    }
                    return own;
                }),
                true,
                first,
                FreePorts.next());
    }

    /** Returns the first of three consecutive free ports, such that the ports 100 and 200 above them are also free. */
    private static int freePorts() {
        while (true) {
            int first = FreePorts.next();
            boolean free = true;
            for (int i = 0; free && i < 9; i++) {
                free = FreePorts.isFree(first + i % 3 + 100 * (i / 3));
            }
            if (free) {
                return first;
            }
        }
    }

    private void run(List<Step> steps, boolean warm, int resp, int http) throws Exception {
        assertThat(steps).hasSizeGreaterThan(3);
        try (Shell shell = new Shell(directory, warm, resp, http)) {
            for (Step step : steps) {
                assertThat(shell.run(step.command())).as(step.command()).matches(pattern(step.prints()));
            }
        }
    }

    /** Returns the steps of a section, or of an entire page if {@code section} is null. */
    private static List<Step> steps(String page, @Nullable String section, UnaryOperator<String> change)
            throws IOException {
        String text = Files.readString(Path.of("..", "docs", page));
        if (section != null) {
            Matcher found = Pattern.compile("\n## " + section + "\n(.*?)(?:\n## |$)", Pattern.DOTALL)
                    .matcher(text);
            assertThat(found.find()).as(section).isTrue();
            text = found.group(1);
        }
        return Step.in(change.apply(text), BLOCK);
    }

    private static Pattern pattern(CharSequence prints) {
        StringBuilder pattern = new StringBuilder();
        for (String fixed : prints.toString().split("…", -1)) {
            pattern.append(pattern.length() == 0 ? "" : ".*?").append(Pattern.quote(fixed));
        }
        return Pattern.compile(pattern.toString(), Pattern.DOTALL);
    }

    /** A shell that keeps its state, such as variables, from one command to the next. */
    private static final class Shell implements AutoCloseable {
        private final Path errors;
        private final Process process;
        private final Writer in;
        private final BufferedReader out;

        Shell(Path directory, boolean warm, int resp, int http) throws IOException {
            Path caravan = directory.resolve("bin").resolve("caravan");
            Files.createDirectory(caravan.getParent());
            String command = String.join("' '", ServerJvm.command(List.of("-D" + WarmUp.PROPERTY + "=" + warm)));
            Files.writeString(caravan, "#!/bin/sh\nexec '%s' \"$@\"\n".formatted(command));
            assertThat(caravan.toFile().setExecutable(true)).isTrue();
            ProcessBuilder builder = new ProcessBuilder("bash").directory(directory.toFile());
            errors = directory.resolve("errors");
            builder.redirectError(errors.toFile());
            builder.environment()
                    .putAll(Map.of(
                            "PATH", caravan.getParent() + ":" + System.getenv("PATH"),
                            "CARAVAN_SERVER", "127.0.0.1:" + resp,
                            "CARAVAN_RESP", "127.0.0.1:" + resp,
                            "CARAVAN_HTTP", "127.0.0.1:" + http,
                            "CARAVAN_DEMO_PORTS", String.valueOf(resp)));
            process = builder.start();
            in = process.outputWriter(UTF_8);
            out = process.inputReader(UTF_8);
        }

        String run(String command) throws IOException {
            // Prints the end marker on a separate line even if the output has no newline at its end.
            in.write(command + "\nprintf '\\n" + END + " %s\\n' $?\n");
            in.flush();
            StringBuilder printed = new StringBuilder();
            String line = out.readLine();
            while (line != null && !line.startsWith(END)) {
                printed.append(line).append('\n');
                line = out.readLine();
            }
            assertThat(line)
                    .as("%s printed %s and %s%s", command, printed, Files.readString(errors), logs())
                    .isEqualTo(END + " 0");
            boolean endsWithLine =
                    printed.toString().endsWith("\n\n") || printed.toString().equals("\n");
            return endsWithLine ? printed.substring(0, printed.length() - 1) : printed.toString();
        }

        /** Returns the output of the servers that the commands have started in the background. */
        private String logs() throws IOException {
            StringBuilder logs = new StringBuilder();
            try (DirectoryStream<Path> files = Files.newDirectoryStream(errors.getParent(), "*.{log,out}")) {
                for (Path file : files) {
                    logs.append(file.getFileName()).append(": ").append(Files.readString(file));
                }
            }
            return logs.toString();
        }

        @Override
        public void close() {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
        }
    }
}
