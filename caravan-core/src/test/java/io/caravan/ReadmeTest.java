package io.caravan;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Compiles and runs the unchanged Java code of the README and of the examples. */
class ReadmeTest {
    private static final Pattern JAVA = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL);
    private static final Pattern PRINTS = Pattern.compile("It prints `([^`]*)`");
    private static final Pattern EXAMPLE_PRINTS =
            Pattern.compile("EmbeddedLetter.java /tmp/letters\n(.*?)```", Pattern.DOTALL);

    @TempDir
    Path work;

    @Test
    void readmeCodePrintsDocumentedOutput() throws Exception {
        String readme = Files.readString(root().resolve("README.md"));

        assertThat(compileAndRun("Letters", first(JAVA, readme)))
                .isEqualTo(first(PRINTS, readme) + System.lineSeparator());
    }

    @Test
    void examplePrintsDocumentedOutput() throws Exception {
        Path examples = root().resolve("examples");
        String page = Files.readString(examples.resolve("README.md"));
        String example = Files.readString(examples.resolve("java/EmbeddedLetter.java"));

        assertThat(compileAndRun("EmbeddedLetter", example)).isEqualToNormalizingNewlines(first(EXAMPLE_PRINTS, page));
    }

    private static Path root() {
        Path here = Path.of("").toAbsolutePath();
        return Files.exists(here.resolve("README.md")) ? here : here.getParent();
    }

    private static String first(Pattern pattern, String text) {
        Matcher matcher = pattern.matcher(text);
        assertThat(matcher.find()).as("the page has %s", pattern).isTrue();
        return matcher.group(1);
    }

    private String compileAndRun(String className, String code) throws IOException, ReflectiveOperationException {
        Path source = Files.writeString(work.resolve(className + ".java"), code);
        int compiled = ToolProvider.getSystemJavaCompiler()
                .run(null, null, null, "-cp", System.getProperty("java.class.path"), "-proc:none", source.toString());
        assertThat(compiled).isZero();

        PrintStream before = System.out;
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        try (URLClassLoader loader = new URLClassLoader(new URL[] {work.toUri().toURL()});
                PrintStream capture = new PrintStream(printed, true, StandardCharsets.UTF_8)) {
            System.setOut(capture);
            loader.loadClass(className).getMethod("main", String[].class).invoke(null, (Object)
                    new String[] {work.resolve("store").toString()});
        } finally {
            System.setOut(before);
        }
        return printed.toString(StandardCharsets.UTF_8);
    }
}
