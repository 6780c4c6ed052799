package io.caravan.testing.simulator;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;

/**
 * Loads the module under test and its tests, with a sabotage compiled in. This class loader has its own version of all
 * classes of {@code io.caravan}: the sabotaged ones from a directory, the others unchanged.
 */
public final class SabotagedBuild extends ClassLoader {
    private static final String PACKAGE = "io.caravan.";
    private static final Path SOURCES = Path.of("src/main/java/io/caravan");
    private static final String CLASSES = "classes";

    private final Path classes;
    private final Set<String> interleaved;

    private SabotagedBuild(Path classes, Set<String> interleaved) {
        super(SabotagedBuild.class.getClassLoader());
        this.classes = classes;
        this.interleaved = interleaved;
    }

    /** Compiles the sabotaged files of the module in the working directory into an empty directory. */
    public static SabotagedBuild of(List<SourceEdit> edits, Path directory) throws IOException {
        return of(Path.of(""), edits, directory);
    }

    /** Compiles the sabotaged files of a module into an empty directory. */
    public static SabotagedBuild of(Path module, List<SourceEdit> edits, Path directory) throws IOException {
        Map<Path, String> sources = sources(module, edits);
        Path classes = Files.createDirectories(directory.resolve(CLASSES));
        if (!sources.isEmpty()) {
            compile(write(sources, module.resolve(SOURCES), directory.resolve("sources")), classes);
        }
        return new SabotagedBuild(classes, Set.of());
    }

    /** Returns the same build, but with switch points in these classes and their nested classes. */
    public SabotagedBuild interleaving(Class<?>... those) {
        return new SabotagedBuild(classes, Stream.of(those).map(Class::getName).collect(Collectors.toSet()));
    }

    /** Returns the edited source files and their new contents. Fails if an edit does not fit. */
    public static Map<Path, String> sources(Path module, List<SourceEdit> edits) throws IOException {
        Map<Path, String> sources = new HashMap<>();
        for (SourceEdit edit : edits) {
            Path file = module.resolve(SOURCES).resolve(edit.file() + ".java");
            String source = sources.containsKey(file) ? sources.get(file) : Files.readString(file);
            sources.put(file, apply(edit, source));
        }
        return sources;
    }

    private static String apply(SourceEdit edit, String source) {
        int at = source.indexOf(edit.from());
        if (at < 0 || source.indexOf(edit.from(), at + 1) >= 0) {
            throw new AssertionError(
                    edit.file() + " should have this once; fit the sabotage to the source: " + edit.from());
        }
        return source.substring(0, at)
                + edit.to()
                + source.substring(at + edit.from().length());
    }

    private static List<Path> write(Map<Path, String> sources, Path root, Path directory) throws IOException {
        List<Path> files = new ArrayList<>();
        for (Map.Entry<Path, String> source : sources.entrySet()) {
            Path file = directory.resolve(root.relativize(source.getKey()));
            Files.createDirectories(file.getParent());
            files.add(Files.writeString(file, source.getValue()));
        }
        return files;
    }

    private static void compile(List<Path> files, Path classes) {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        String classPath = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        List<String> arguments = Stream.concat(
                        Stream.of("-proc:none", "-nowarn", "-d", classes.toString(), "-cp", classPath),
                        files.stream().map(Path::toString))
                .toList();
        if (compiler.run(null, null, null, arguments.toArray(String[]::new)) != 0) {
            throw new AssertionError("the sabotaged source does not compile");
        }
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        if (!name.startsWith(PACKAGE)) {
            return super.loadClass(name, resolve);
        }
        synchronized (getClassLoadingLock(name)) {
            Class<?> loaded = findLoadedClass(name);
            return loaded != null ? loaded : define(name);
        }
    }

    private Class<?> define(String name) throws ClassNotFoundException {
        byte[] bytes = read(name.replace('.', '/') + ".class");
        if (bytes == null) {
            throw new ClassNotFoundException(name);
        }
        if (interleaved.contains(name.replaceFirst("\\$.*", ""))) {
            bytes = SwitchPoints.into(bytes);
        }
        return defineClass(name, bytes, 0, bytes.length);
    }

    private byte[] read(String resource) {
        Path sabotaged = classes.resolve(resource);
        try (InputStream stream = Files.exists(sabotaged)
                ? Files.newInputStream(sabotaged)
                : getParent().getResourceAsStream(resource)) {
            return stream == null ? null : stream.readAllBytes();
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }
}
