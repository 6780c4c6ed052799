package io.caravan.integrations.testing;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.ToolProvider;

/** The Java example in a module's README.md, which tests compile and run unchanged. */
public final class ReadmeExample {
    private static final Pattern JAVA = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL);
    private static final Pattern PACKAGE = Pattern.compile("^package (\\S+);", Pattern.MULTILINE);
    private static final Pattern CLASS = Pattern.compile("public class (\\S+)");
    private static final Pattern PRINTS = Pattern.compile(" prints `([^`]*)`");

    private final String readme;
    private final String main;
    private final String classPath;

    private ReadmeExample(String readme, String main, String classPath) {
        this.readme = readme;
        this.main = main;
        this.classPath = classPath;
    }

    /** Compiles the example of the module whose tests run in the current directory. */
    public static ReadmeExample compile(Path work) throws IOException {
        String readme = Files.readString(Path.of("README.md"));
        String java = first(JAVA, readme);
        String name = first(CLASS, java);
        Path source = Files.writeString(work.resolve(name + ".java"), java);
        Path classes = Files.createDirectory(work.resolve("classes"));
        int compiled = ToolProvider.getSystemJavaCompiler()
                .run(
                        null,
                        null,
                        null,
                        "-cp",
                        ChildJvm.classPath(),
                        "-proc:none",
                        "-parameters",
                        "-d",
                        classes.toString(),
                        source.toString());
        if (compiled != 0) {
            throw new AssertionError("the Java of README.md does not compile; see above");
        }
        Matcher inPackage = PACKAGE.matcher(java);
        return new ReadmeExample(
                readme,
                inPackage.find() ? inPackage.group(1) + "." + name : name,
                classes + File.pathSeparator + ChildJvm.classPath());
    }

    /** Returns a copy of the example whose class path lacks the jars whose names start with these prefixes. */
    public ReadmeExample without(String... jars) {
        String rest = Stream.of(classPath.split(File.pathSeparator))
                .filter(path -> Stream.of(jars)
                        .noneMatch(jar -> path.substring(path.lastIndexOf(File.separator) + 1)
                                .startsWith(jar)))
                .collect(Collectors.joining(File.pathSeparator));
        return new ReadmeExample(readme, main, rest);
    }

    /** Returns the output that README.md says the example prints. */
    public String promised() {
        return first(PRINTS, readme);
    }

    /** Runs the example, and returns the lines that it prints. */
    public List<String> run(String... arguments) throws IOException {
        try (ChildJvm child = ChildJvm.start(classPath, main, arguments)) {
            return child.linesToTheEnd();
        }
    }

    private static String first(Pattern pattern, String text) {
        Matcher matcher = pattern.matcher(text);
        if (!matcher.find()) {
            throw new AssertionError("README.md has no " + pattern);
        }
        return matcher.group(1);
    }
}
