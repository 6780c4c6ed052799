package io.caravan.server.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.AutoComplete;
import picocli.CommandLine;

/** Tests {@code scripts/caravan} in a copy of the built project, with and without a class-data archive. */
@Timeout(180)
class LauncherIT {
    private static final String NATIVE_ACCESS = "--enable-native-access=ALL-UNNAMED";
    private static final String SERVED = NATIVE_ACCESS + " -XX:+ExitOnOutOfMemoryError ";

    private static final Path SCRIPTS = Path.of("../scripts");

    @TempDir
    private Path root;

    private Path target;

    @BeforeEach
    void copyTheProject() throws IOException {
        Files.createDirectories(root.resolve("scripts/lib"));
        for (String script : List.of("caravan", "lib/launch.sh", "lib/java.sh")) {
            Files.copy(SCRIPTS.resolve(script), root.resolve("scripts").resolve(script));
        }
        Files.createFile(root.resolve("pom.xml"));
        for (String module : List.of("caravan-core", "caravan-cluster", "caravan-server")) {
            Files.createFile(Files.createDirectory(root.resolve(module)).resolve("pom.xml"));
        }
        target = Files.createDirectory(root.resolve("caravan-server/target"));
        writeJar(target.resolve("caravan-server.jar"));
        Files.createFile(target.resolve(".launched"));
    }

    /** Writes a jar that contains only a reference to the class path of this test. */
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
        return runWith("", javaHome, words);
    }

    private String runWith(String javaOptions, Path javaHome, String... words)
            throws IOException, InterruptedException {
        return run(0, javaOptions, javaHome, words);
    }

    private String run(int status, String javaOptions, Path javaHome, String... words)
            throws IOException, InterruptedException {
        ProcessBuilder builder =
                new ProcessBuilder(root.resolve("scripts/caravan").toString());
        builder.command().addAll(List.of(words));
        builder.environment().put("JAVA_HOME", javaHome.toString());
        builder.environment().put("CARAVAN_JAVA_OPTS", javaOptions);
        builder.environment().merge("PATH", root.toString(), (path, own) -> own + File.pathSeparator + path);
        Process process = builder.redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).as(output).isEqualTo(status);
        return output;
    }

    /** Creates a fake JDK of this version whose {@code java} prints its arguments. */
    private Path printingJdk(int version) throws IOException {
        return jdk(version, "echo \"$@\"");
    }

    private Path jdk(int version, String script) throws IOException {
        Path home = Files.createDirectories(root.resolve("jdk/bin")).getParent();
        Files.writeString(home.resolve("release"), "JAVA_VERSION=\"" + version + ".0.1\"\n");
        writeProgram(home.resolve("bin/java"), script);
        return home;
    }

    private static void writeProgram(Path file, String script) throws IOException {
        Files.writeString(file, "#!/bin/sh\n" + script + "\n");
        assertThat(file.toFile().setExecutable(true)).isTrue();
    }

    private static Path thisJdk() {
        return Path.of(System.getProperty("java.home"));
    }

    @Test
    void serverAndCommandsUseTheirOwnArchives() throws Exception {
        Path server = Files.createFile(target.resolve("server.jsa"));
        Path command = Files.createFile(target.resolve("command.jsa"));
        Path jdk = printingJdk(17);
        assertThat(run(jdk, "serve", "--print-config")).contains("-XX:SharedArchiveFile=" + server + " ");
        assertThat(run(jdk, "stat")).contains("-XX:SharedArchiveFile=" + command + " ");
        assertThat(run(jdk, "verify", "data")).doesNotContain("-XX");
    }

    @Test
    void usesAotCacheFromJava25On() throws Exception {
        Path server = Files.createFile(target.resolve("server.jsa"));
        assertThat(run(printingJdk(25), "serve")).contains("-XX:AOTCache=" + server + " ");
    }

    /** A user's archive option must replace the default archive, because the JVM does not start with both. */
    @Test
    void userOptionsReplaceDefaultArchive() throws Exception {
        Files.createFile(target.resolve("server.jsa"));
        assertThat(runWith("-Xshare:off", printingJdk(25), "serve")).startsWith(SERVED + "-Xshare:off -cp ");
        assertThat(runWith("-XX:AOTCache=mine", printingJdk(25), "serve"))
                .startsWith(SERVED + "-XX:AOTCache=mine -cp ");
    }

    @Test
    void startsWithoutArchiveIfNoneExists() throws Exception {
        assertThat(run(printingJdk(25), "serve")).startsWith(SERVED + "-cp ");
    }

    @ParameterizedTest
    @CsvSource({"0, true", "1, false"})
    void buildKeepsArchiveOnlyAfterCleanJvmExit(int status, boolean kept) throws Exception {
        Files.delete(target.resolve(".launched"));
        writeProgram(root.resolve("mvn"), "");
        Path jdk = jdk(17, """
                echo 'caravan serves RESP on 127.0.0.1:1, and more'
                for word; do
                  case $word in
                    -XX:ArchiveClassesAtExit=*) echo archive > "${word#*=}"; exit %d ;;
                  esac
                done""".formatted(status));
        run(jdk, "stat");
        assertThat(target.resolve(".launched")).exists();
        try (Stream<Path> files = Files.list(target)) {
            assertThat(files.map(file -> file.getFileName().toString()).filter(name -> name.contains(".jsa")))
                    .containsExactlyInAnyOrder(kept ? new String[] {"command.jsa", "server.jsa"} : new String[0]);
        }
    }

    @Test
    void packagesEnableNativeAccess() throws IOException {
        assertThat(Path.of("../caravan-dist/src/bin/caravan"))
                .content()
                .contains("source \"$home/lib/installed.sh\"", "exec \"$java\" \"$native_access\" ");
        assertThat(Path.of("../caravan-dist/pom.xml")).content().contains("<arg>" + NATIVE_ACCESS + "</arg>");
    }

    /** Java 25 must print no warning when the server, before it binds its addresses, loads Netty's native code. */
    @Test
    @Tag("slow")
    void java25PrintsNoNativeAccessWarning() throws Exception {
        Path jdk = jdk25();
        assumeThat(jdk).as("a JDK 25 in JAVA25_HOME or /usr/lib/jvm").isNotNull();
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            String busy = "127.0.0.1:" + taken.getLocalPort();
            assertThat(run(
                            1,
                            "",
                            jdk,
                            "serve",
                            "--resp",
                            busy,
                            "--data",
                            root.resolve("data").toString()))
                    .hasLineCount(1)
                    .startsWith("caravan: cannot listen on " + busy);
        }
    }

    private static @Nullable Path jdk25() throws IOException {
        String named = System.getenv("JAVA25_HOME");
        if (named != null) {
            return Path.of(named);
        }
        Path all = Path.of("/usr/lib/jvm");
        if (!Files.isDirectory(all)) {
            return null;
        }
        try (DirectoryStream<Path> found = Files.newDirectoryStream(all, "*25*")) {
            for (Path home : found) {
                if (Files.isExecutable(home.resolve("bin/java"))) {
                    return home;
                }
            }
        }
        return null;
    }

    /** The launcher must silently ignore a class-data archive that was made for other jars, as after an update. */
    @Test
    @Tag("slow")
    void ignoresMismatchedArchiveSilently() throws Exception {
        Path archive = target.resolve("command.jsa");
        Path other = Path.of(CommandLine.class
                .getProtectionDomain()
                .getCodeSource()
                .getLocation()
                .toURI());
        Process dump = new ProcessBuilder(
                        thisJdk().resolve("bin/java").toString(),
                        "-XX:ArchiveClassesAtExit=" + archive,
                        "-cp",
                        other.toString(),
                        AutoComplete.class.getName(),
                        "--version")
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        assertThat(dump.waitFor(60, TimeUnit.SECONDS)).isTrue();
        Files.copy(archive, target.resolve("server.jsa"));
        assertThat(run(thisJdk(), "--version")).hasLineCount(1).startsWith("caravan ");
        assertThat(run(thisJdk(), "serve", "--version")).hasLineCount(1).startsWith("caravan ");
    }
}
