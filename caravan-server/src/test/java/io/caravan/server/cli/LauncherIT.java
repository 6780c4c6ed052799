package io.caravan.server.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code scripts/caravan} in a copy of the project that is built: an archive of classes is used, and never needed. */
@Timeout(180)
class LauncherIT {
    private static final Path SCRIPTS = Path.of("../scripts");

    @TempDir
    private Path root;

    private Path target;

    @BeforeEach
    void copyTheProject() throws IOException {
        Files.createDirectories(root.resolve("scripts/lib"));
        for (String script : List.of("caravan", "lib/launch.sh")) {
            Files.copy(SCRIPTS.resolve(script), root.resolve("scripts").resolve(script));
        }
        Files.createFile(root.resolve("pom.xml"));
        for (String module : List.of("caravan-core", "caravan-server")) {
            Files.createFile(
                    Files.createDirectory(root.resolve(module)).resolve("pom.xml"));
        }
        target = Files.createDirectory(root.resolve("caravan-server/target"));
        writeJar(target.resolve("caravan-server.jar"));
        Files.createFile(target.resolve(".launched"));
    }

    /** A jar of nothing but this test's class path. */
    private static void writeJar(Path jar) throws IOException {
        Manifest manifest = new Manifest();
        manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
        manifest.getMainAttributes()
                .put(
                        Attributes.Name.CLASS_PATH,
                        Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
                                .map(entry -> Path.of(entry).toUri().toString())
                                .collect(Collectors.joining(" ")));
        try (OutputStream out = Files.newOutputStream(jar)) {
            new JarOutputStream(out, manifest).close();
        }
    }

    private String run(Path javaHome, String... words) throws IOException, InterruptedException {
        ProcessBuilder builder = new ProcessBuilder(root.resolve("scripts/caravan").toString());
        builder.command().addAll(List.of(words));
        builder.environment().put("JAVA_HOME", javaHome.toString());
        builder.environment().remove("CARAVAN_JAVA_OPTS");
        Process process = builder.redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).as(output).isZero();
        return output;
    }

    /** A JDK of the given version whose java prints its arguments. */
    private Path printingJdk(int version) throws IOException {
        Path home = root.resolve("jdk");
        Path java = Files.createDirectories(home.resolve("bin")).resolve("java");
        Files.writeString(home.resolve("release"), "JAVA_VERSION=\"" + version + ".0.1\"\n");
        Files.writeString(java, "#!/bin/sh\necho \"$@\"\n");
        assertThat(java.toFile().setExecutable(true)).isTrue();
        return home;
    }

    private static Path thisJdk() {
        return Path.of(System.getProperty("java.home"));
    }

    @Test
    void serverAndCommandsStartWithTheirArchives() throws Exception {
        Path server = Files.createFile(target.resolve("server.jsa"));
        Path command = Files.createFile(target.resolve("command.jsa"));
        Path jdk = printingJdk(17);
        assertThat(run(jdk, "serve", "--print-config")).contains("-XX:SharedArchiveFile=" + server + " ");
        assertThat(run(jdk, "stat")).contains("-XX:SharedArchiveFile=" + command + " ");
        assertThat(run(jdk, "verify", "data")).doesNotContain("-XX");
    }

    @Test
    void fromJava25OnAnArchiveHasProfiles() throws Exception {
        Path server = Files.createFile(target.resolve("server.jsa"));
        assertThat(run(printingJdk(25), "serve")).contains("-XX:AOTCache=" + server + " ");
    }

    @Test
    void withoutAnArchiveNoneIsAskedFor() throws Exception {
        assertThat(run(printingJdk(25), "serve")).startsWith("-cp ");
    }

    /** As after an update of Java, or of a jar. */
    @Test
    void anArchiveThatDoesNotFitIsPassedOverInSilence() throws Exception {
        String content = "an archive that another JVM has made";
        String expected = run(thisJdk(), "serve", "--print-config");
        assertThat(expected).contains("data");
        Files.writeString(target.resolve("server.jsa"), content);
        assertThat(run(thisJdk(), "serve", "--print-config")).isEqualTo(expected);
        Files.writeString(target.resolve("command.jsa"), content);
        assertThat(run(thisJdk(), "--version")).hasLineCount(1).startsWith("caravan ");
    }
}
