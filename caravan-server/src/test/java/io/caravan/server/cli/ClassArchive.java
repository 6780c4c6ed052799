package io.caravan.server.cli;

import io.caravan.server.app.WarmUp;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The classes that a process of ours is started with. Once they are in a jar, as for integration tests, also an archive of
 * those that a server loads, with which a process starts with about half the work. It is made by the first that asks,
 * beside the jar, and belongs to it.
 */
final class ClassArchive {
    private static final int TRAINING_SECONDS = 60;
    private static final List<String> OPTIONS = find();

    private ClassArchive() {}

    /** Options of the JVM. */
    static List<String> options() {
        return OPTIONS;
    }

    private static List<String> find() {
        Path code = location();
        if (Files.isDirectory(code)) {
            return List.of("-cp", System.getProperty("java.class.path"));
        }
        // A JVM makes no archive of classes in folders; these are the tests' own.
        String jars = Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
                .filter(entry -> !Files.isDirectory(Path.of(entry)))
                .collect(Collectors.joining(File.pathSeparator));
        try {
            Path archive = code.resolveSibling("tests.jsa");
            make(archive, Files.getLastModifiedTime(code).toMillis(), jars);
            return List.of("-XX:SharedArchiveFile=" + archive, "-Xlog:cds*=off", "-cp", jars);
        } catch (IOException problem) {
            throw new UncheckedIOException(problem);
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(stopped);
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

    /** Tests that run at the same time wait for each other. */
    private static void make(Path archive, long jarMillis, String jars) throws IOException, InterruptedException {
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

    /** Runs a server, which leaves the archive when it ends. */
    private static void train(Path archive, String jars) throws IOException, InterruptedException {
        Path data = archive.resolveSibling("tests.jsa.data");
        List<String> command = new ArrayList<>(ServerProcess.shortLived());
        command.addAll(
                List.of("-XX:ArchiveClassesAtExit=" + archive, "-Xlog:cds*=off", "-D" + WarmUp.PROPERTY + "=true"));
        command.addAll(List.of("-cp", jars, Main.class.getName(), "serve", "--archive", "none"));
        command.addAll(List.of("--data", data.toString(), "--resp", "127.0.0.1:0", "--http", "127.0.0.1:0"));
        Process process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try (BufferedReader out = process.inputReader(StandardCharsets.UTF_8)) {
            if (out.readLine() == null) {
                throw new IOException("the server whose classes are to be archived has not started");
            }
            process.destroy();
            if (!process.waitFor(TRAINING_SECONDS, TimeUnit.SECONDS) || !Files.exists(archive)) {
                throw new IOException("the server left no archive of its classes within " + TRAINING_SECONDS + " s");
            }
        } finally {
            process.destroyForcibly();
        }
    }
}
