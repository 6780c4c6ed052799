package io.caravan.server.cli;

import io.caravan.server.app.SmallFiles;
import io.caravan.server.app.WarmUp;
import io.caravan.testing.ChildJvm;
import io.caravan.testing.ServerProcess;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Runs {@link Main} in a separate JVM. In integration tests, the classes are in a jar, and the JVM uses a class-data
 * archive, which about halves the startup work. The first caller creates the archive next to the jar.
 */
public final class ServerJvm {
    private static final List<String> CLASSES = classes();

    private ServerJvm() {}

    /** Returns the command line for a command of {@link Main}. */
    public static List<String> command(String... words) {
        return command(List.of(), words);
    }

    static List<String> command(List<String> jvmOptions, String... words) {
        return ChildJvm.command(flags(jvmOptions), ServerProcess.MAIN, List.of(words));
    }

    /** Starts a server with options of {@code serve}, and waits until it listens. Writes its log next to its data. */
    public static ServerProcess start(Path data, String... options) throws IOException {
        return start(data, List.of(), Map.of(), data.resolveSibling(data.getFileName() + ".log"), options);
    }

    /**
     * Starts a server, and waits until it listens.
     *
     * @param data the data directory; if it is missing, an empty store with {@link SmallFiles} is created there first
     * @param environment variables in addition to those of this process
     * @param log receives the output of the server
     * @param options the options of {@code serve}
     */
    public static ServerProcess start(
            Path data, List<String> jvmOptions, Map<String, String> environment, Path log, String... options)
            throws IOException {
        SmallFiles.make(data, 1);
        ServerProcess server = new ServerProcess(ServerProcess.MAIN, data, log, List.of(options), environment)
                .withFlags(flags(jvmOptions));
        server.start();
        try {
            server.awaitReady();
        } catch (IOException notReady) {
            server.close();
            throw notReady;
        }
        return server;
    }

    private static List<String> flags(List<String> jvmOptions) {
        return Stream.of(ChildJvm.FLAGS, jvmOptions, CLASSES)
                .flatMap(List::stream)
                .toList();
    }

    private static List<String> classes() {
        Path code = location();
        if (Files.isDirectory(code)) {
            return List.of();
        }
        // Omits directories, which contain the tests, because a JVM cannot archive classes in directories.
        String jars = Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
                .filter(entry -> !Files.isDirectory(Path.of(entry)))
                .collect(Collectors.joining(File.pathSeparator));
        try {
            Path archive = code.resolveSibling("tests.jsa");
            make(archive, Files.getLastModifiedTime(code).toMillis(), jars);
            return List.of("-XX:SharedArchiveFile=" + archive, "-Xlog:cds*=off", "-cp", jars);
        } catch (IOException problem) {
            throw new UncheckedIOException(problem);
        }
    }

    private static Path location() {
        try {
            URI uri = Main.class
                    .getProtectionDomain()
                    .getCodeSource()
                    .getLocation()
                    .toURI();
            return Path.of(uri);
        } catch (URISyntaxException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    /** Creates the class-data archive if it is missing or older than the jar. Concurrent tests wait for each other. */
    private static void make(Path archive, long jarMillis, String jars) throws IOException {
        Path lock = archive.resolveSibling(archive.getFileName() + ".lock");
        try (FileChannel channel = FileChannel.open(lock, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            channel.lock();
            if (Files.exists(archive) && Files.getLastModifiedTime(archive).toMillis() > jarMillis) {
                return;
            }
            Path unfinished = archive.resolveSibling(archive.getFileName() + ".new");
            train(unfinished, jars);
            Files.move(unfinished, archive, StandardCopyOption.REPLACE_EXISTING);
        }
    }

    /** Starts and stops a server that writes the class-data archive when it exits. */
    private static void train(Path archive, String jars) throws IOException {
        List<String> flags = List.of(
                "-XX:ArchiveClassesAtExit=" + archive, "-Xlog:cds*=off", "-D" + WarmUp.PROPERTY + "=true", "-cp", jars);
        Path data = archive.resolveSibling("tests.jsa.data");
        Path log = archive.resolveSibling("tests.jsa.log");
        try (ServerProcess server = new ServerProcess(data, log)
                .withFlags(
                        Stream.concat(ChildJvm.FLAGS.stream(), flags.stream()).toList())) {
            server.start();
            server.awaitReady();
            server.terminate();
            if (!Files.exists(archive)) {
                throw new IOException("the server left no archive of its classes: " + server.output());
            }
        }
    }
}
