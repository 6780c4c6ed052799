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

/** The Java code of the README, compiled and run unchanged. */
class ReadmeTest {
    private static final Pattern JAVA = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL);
    private static final Pattern PRINTS = Pattern.compile("It prints `([^`]*)`");

    @TempDir
    Path work;

    @Test
    void theJavaOfTheTourCompilesAndPrintsWhatTheReadmeSays() throws Exception {
        String readme = Files.readString(readme());
        Path source = Files.writeString(work.resolve("Letters.java"), first(JAVA, readme));

        int compiled = ToolProvider.getSystemJavaCompiler()
                .run(null, null, null, "-cp", System.getProperty("java.class.path"), "-proc:none", source.toString());

        assertThat(compiled).isZero();
        assertThat(run("Letters", work.resolve("store"))).isEqualTo(first(PRINTS, readme) + System.lineSeparator());
    }

    private static Path readme() {
        Path here = Path.of("").toAbsolutePath();
        return Files.exists(here.resolve("README.md")) ? here.resolve("README.md") : here.resolveSibling("README.md");
    }

    private static String first(Pattern pattern, String text) {
        Matcher matcher = pattern.matcher(text);
        assertThat(matcher.find()).as("the README has %s", pattern).isTrue();
        return matcher.group(1);
    }

    private String run(String className, Path argument) throws IOException, ReflectiveOperationException {
        PrintStream before = System.out;
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        try (URLClassLoader loader = new URLClassLoader(new URL[] {work.toUri().toURL()});
                PrintStream capture = new PrintStream(printed, true, StandardCharsets.UTF_8)) {
            System.setOut(capture);
            loader.loadClass(className).getMethod("main", String[].class).invoke(null, (Object)
                    new String[] {argument.toString()});
        } finally {
            System.setOut(before);
        }
        return printed.toString(StandardCharsets.UTF_8);
    }
}
