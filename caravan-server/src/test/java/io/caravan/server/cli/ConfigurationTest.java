package io.caravan.server.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.server.cli.client.CommandRun;
import io.caravan.server.cli.common.Console;
import io.caravan.server.config.LogLevel;
import io.caravan.server.config.Settings;
import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.X509Bundle;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine.Model.OptionSpec;

/** Tests settings from the command line, the environment, and a file, and the messages about invalid settings. */
class ConfigurationTest {
    @TempDir
    private Path directory;

    private final Map<String, String> environment = new HashMap<>();
    private CommandRun last = CommandRun.with(Map.of(), new byte[0]);

    private CommandRun serve(String... options) {
        last = CommandRun.with(environment, new byte[0]).run(null, CommandRun.words(List.of("serve"), options));
        return last;
    }

    private String file(String text) throws IOException {
        return Files.writeString(directory.resolve("caravan.properties"), text).toString();
    }

    /** Returns the value and the source of each setting that {@code --print-config} prints, by name. */
    private Map<String, List<String>> printed(String... options) {
        serve(CommandRun.words(List.of(options), "--print-config")).exits(0);
        Map<String, List<String>> rows = new TreeMap<>();
        last.out().lines().map(line -> line.split(" {2,}")).forEach(row -> rows.put(row[0], List.of(row[1], row[2])));
        return rows;
    }

    private void assertRejected(String problem, String... options) {
        serve(options).exits(2);
        assertThat(last.err().lines()).hasSize(1);
        assertThat(last.err()).contains(problem);
    }

    @Test
    void appliesSettingsInPrecedenceOrder() throws IOException {
        String file = file("max-value = 2MiB\nreaders = 5\nloops = 3\ninsecure = true\n");
        environment.put("CARAVAN_READERS", "6");
        environment.put("CARAVAN_LOOPS", "4");
        Map<String, List<String>> rows = printed("--config", file, "--loops", "2");
        assertThat(rows)
                .containsEntry("loops", List.of("2", "command line"))
                .containsEntry("readers", List.of("6", "environment CARAVAN_READERS"))
                .containsEntry("max-value", List.of("2MiB", "file " + file))
                .containsEntry("insecure", List.of("true", "file " + file))
                .containsEntry("durability", List.of("sync", "default"));
    }

    @Test
    void readsConfigFilePathFromEnvironment() throws IOException {
        environment.put("CARAVAN_CONFIG", file("idle-timeout = 5m\n"));
        assertThat(printed()).containsEntry("idle-timeout", List.of("5m", "file " + environment.get("CARAVAN_CONFIG")));
    }

    @Test
    void flagSetInFileAndOnCommandLineStaysSet() throws IOException {
        assertThat(printed("--config", file("insecure = true\n"), "--insecure"))
                .containsEntry("insecure", List.of("true", "command line"));
    }

    @Test
    void acceptsOriginsAsListOrRepeatedOption() throws IOException {
        String file = file("allow-origin = https://a.example,http://b.example:3000\n");
        assertThat(printed("--config", file))
                .containsEntry("allow-origin", List.of("https://a.example,http://b.example:3000", "file " + file));
        assertThat(printed("--allow-origin", "https://a.example", "--allow-origin", "*"))
                .containsEntry("allow-origin", List.of("https://a.example,*", "command line"));
    }

    @Test
    void printsAllSettingsAndHidesSecrets() {
        environment.put("CARAVAN_PASSWORD", "hunter2");
        Set<String> expected = settings().map(Settings::fileName).collect(Collectors.toCollection(TreeSet::new));
        expected.add("password");
        Map<String, List<String>> rows = printed();
        assertThat(rows.keySet()).isEqualTo(expected);
        assertThat(rows).containsEntry("password", List.of("(hidden)", "environment CARAVAN_PASSWORD"));
        assertThat(last.out()).doesNotContain("hunter2");
    }

    @Test
    void hidesUserAndPasswordInUrls() {
        assertShownAs("s3://(hidden)@bucket/prefix", "s3://key:hunter2@bucket/prefix");
        assertShownAs("s3://(hidden)@bucket", "s3://key:hunt/er2@bucket");
        assertShownAs("s3://bucket/backups@eu", "s3://bucket/backups@eu");
        assertShownAs("file:///mnt/@backups", "file:///mnt/@backups");
        assertThat(printed("--allow-origin", "https://user:hunter2@a.example,https://b.example"))
                .containsEntry("allow-origin", List.of("https://(hidden)@a.example,https://b.example", "command line"));
    }

    private void assertShownAs(String shown, String archive) {
        environment.put("CARAVAN_ARCHIVE", archive);
        assertThat(printed("--s3-endpoint", "https://user:hunter2@s3.example:9000"))
                .containsEntry("s3-endpoint", List.of("https://(hidden)@s3.example:9000", "command line"))
                .containsEntry("archive", List.of(shown, "environment CARAVAN_ARCHIVE"));
    }

    @Test
    void suggestsCorrectionForUnknownSetting() throws IOException {
        String file = file("max-valeu = 1MiB\n");
        assertRejected(file + ": there is no setting 'max-valeu'; did you mean 'max-value'?", "--config", file);
    }

    @Test
    void reportsSourceOfInvalidValue() throws IOException {
        environment.put("CARAVAN_MAX_VALUE", "lots");
        assertRejected("'lots' is not a size, such as 65536, 64KiB or 1MiB, from environment CARAVAN_MAX_VALUE");
    }

    @Test
    void reportsMissingConfigFile() {
        assertRejected("there is no file '" + directory.resolve("absent"), "--config", directory + "/absent");
    }

    @Test
    void rejectsInvalidSettingsBeforeOpeningStore() throws IOException {
        environment.put("CARAVAN_DATA", directory.resolve("store").toString());
        Path secret = Files.writeString(directory.resolve("p"), "secret\n");
        Map<List<String>, String> wrong = Map.of(
                List.of("--max-in-flight", "1MiB"), "--max-in-flight must be 8388608 bytes or more",
                List.of("--max-in-flight-total", "8MiB"), "--max-in-flight-total must not be below",
                List.of("--max-connections", "0"), "--max-connections must be 1 or more",
                List.of("--request-timeout", "0s"), "--request-timeout must be above 0",
                List.of("--stop-timeout", "0s"), "--stop-timeout must be above 0",
                List.of("--loops", "1025"), "is not auto or a number from 1 to 1024",
                List.of("--transport", "pigeon"), "--transport must be auto, nio, epoll or io_uring",
                List.of("--tls-cert", "x"), "--tls-cert and --tls-key require each other",
                List.of("--auth-file", "x", "--password-file", secret.toString()), "exclude each other");
        wrong.forEach((options, problem) -> {
            assertRejected(problem, options.toArray(String[]::new));
        });
        assertThat(directory.resolve("store")).doesNotExist();
    }

    @Test
    void rejectsBackupsAndArchiveInsideStore() throws IOException {
        Path data = Files.createDirectory(directory.resolve("store"));
        environment.put("CARAVAN_DATA", data.toString());
        String file =
                Files.writeString(directory.resolve("cluster"), threeNodes()).toString();
        String node = "--insecure --cluster-create --cluster-file " + file + " --cluster-node a ";
        assertRejected("--backup-dir '" + data + "' is inside --data", (node + "--backup-dir " + data).split(" "));
        assertRejected("--archive '" + data + "/x' is inside", (node + "--archive file:" + data + "/x").split(" "));
        Path link = Files.createSymbolicLink(directory.resolve("link"), data);
        Path below = Files.createDirectory(data.resolve("below"));
        for (Path backups : List.of(data, link, below)) {
            assertRejected("--backup-dir '" + backups + "' is inside --data", "--backup-dir", backups.toString());
            assertRejected("--archive '" + backups + "' is inside --data", "--archive", "file:" + backups);
        }
        assertRejected("--archive '" + link + "/new' is inside", "--archive", "file:" + link + "/new");
    }

    @Test
    void rejectsTooShortHeartbeat() {
        assertRejected("'500ms' is not off or a time of 1s or more", "--event-stream-heartbeat", "500ms");
        // Only the second setting is invalid.
        assertRejected("--stop-timeout must be above 0", "--event-stream-heartbeat", "off", "--stop-timeout", "0s");
    }

    @Test
    void setsLogLevelBeforeRejectingSettings() {
        LogLevel before = LogLevel.current();
        try {
            assertRejected("--max-connections must be", "--log-level", "error", "--max-connections", "0");
            assertThat(LogLevel.current()).isEqualTo(LogLevel.ERROR);
            environment.put("CARAVAN_LOG_LEVEL", "warn");
            assertRejected("--max-connections must be", "--max-connections", "0");
            assertThat(LogLevel.current()).isEqualTo(LogLevel.WARN);
        } finally {
            before.apply();
        }
    }

    /** Returns a cluster file with nodes a, b, and c. */
    private static String threeNodes() {
        StringBuilder text = new StringBuilder("cluster = 3f0c5a52-5d3e-4f3c-9a44-0c0a6d1f7b10\n");
        int port = 1;
        for (String host : List.of("a", "b", "c")) {
            for (String use : List.of("peer", "resp", "http")) {
                text.append("%s.%s = 127.0.0.1:%d\n".formatted(host, use, port++));
            }
        }
        return text.toString();
    }

    @Test
    void rejectsInvalidClusterBeforeOpeningStore() throws IOException {
        environment.put("CARAVAN_DATA", directory.resolve("store").toString());
        String text = threeNodes().replace("c.peer = 127.0.0.1", "c.peer = 10.0.0.1");
        String file = Files.writeString(directory.resolve("cluster"), text).toString();
        Map<String, String> wrong = Map.of(
                "--cluster-reads linearizable", "--cluster-reads linearizable requires --cluster-file",
                "--cluster-file FILE", "--cluster-file and --cluster-node require each other",
                "--cluster-node a", "--cluster-file and --cluster-node require each other",
                "--cluster-file FILE --cluster-node d", "the cluster has no node 'd'",
                "--cluster-file FILE --cluster-node c",
                        "the peer address 10.0.0.1:7 can be reached from other machines",
                "--cluster-file FILE --cluster-node a --durability process", "--durability must be sync in a cluster",
                "--cluster-file FILE --cluster-node a --cluster-cert x",
                        "--cluster-key and --cluster-ca require each other",
                "--cluster-file FILE --cluster-node a --tls-cert x --tls-key y", "--tls-cert in a cluster requires",
                "--cluster-file FILE --cluster-node a --cluster-election 1ms", "election must be 50 ms to 1 min",
                "--cluster-file FILE --cluster-node a --cluster-create --cluster-join",
                        "--cluster-create is for a new");
        wrong.forEach((options, problem) -> {
            assertRejected(problem, options.replace("FILE", file).split(" "));
        });
        String two = Files.writeString(directory.resolve("two"), text.replaceAll("(?m)^c\\..*\\R", ""))
                .toString();
        assertRejected(
                "a new cluster and each of its Raft groups have three or five nodes, so that a majority survives the"
                        + " loss of one or two nodes; there are 2",
                "--cluster-file",
                two,
                "--cluster-node",
                "a",
                "--cluster-create");
        assertThat(directory.resolve("store")).doesNotExist();
    }

    /** A key that does not match the certificate, for example because only one was renewed, must be rejected. */
    @Test
    void rejectsKeyOfAnotherCertificate() throws Exception {
        environment.put("CARAVAN_DATA", directory.resolve("store").toString());
        X509Bundle pair = new CertificateBuilder()
                .subject("CN=one")
                .setIsCertificateAuthority(true)
                .buildSelfSigned();
        X509Bundle other = new CertificateBuilder()
                .subject("CN=other")
                .setIsCertificateAuthority(true)
                .buildSelfSigned();
        String certificate = Files.writeString(directory.resolve("cert.pem"), pair.getCertificatePathPEM())
                .toString();
        String key = Files.writeString(directory.resolve("key.pem"), other.getPrivateKeyPEM())
                .toString();
        String problem = "the certificate in " + certificate + " and the key in " + key + " cannot be used";
        serve("--tls-cert", certificate, "--tls-key", key).exits(1, problem, "the key is that of another certificate");

        String file =
                Files.writeString(directory.resolve("cluster"), threeNodes()).toString();
        serve(
                        "--cluster-file",
                        file,
                        "--cluster-node",
                        "a",
                        "--cluster-create",
                        "--cluster-cert",
                        certificate,
                        "--cluster-key",
                        key,
                        "--cluster-ca",
                        certificate)
                .exits(1, problem, "the key is that of another certificate");
        assertThat(directory.resolve("store")).doesNotExist();
    }

    @Test
    void rejectsInvalidOrigin() {
        assertRejected(
                "--allow-origin: 'https://a.example/' is not an origin", "--allow-origin", "*,https://a.example/");
    }

    private static Stream<OptionSpec> settings() {
        return Main.commandLine(Map.of(), Console.system())
                .getSubcommands()
                .get("serve")
                .getCommandSpec()
                .options()
                .stream()
                .filter(option -> !Settings.notASetting(option));
    }

    @Test
    void documentedSettingsMatchOptions() throws IOException {
        Map<String, String> expected = new TreeMap<>();
        settings()
                .forEach(option -> expected.put(
                        option.longestName(), option.defaultValue() == null ? "none" : option.defaultValue()));
        Map<String, String> documented = new TreeMap<>();
        Matcher row = Pattern.compile("(?m)^\\| `(--[a-z0-9-]+)` \\| `?([^`|]+?)`? \\|")
                .matcher(Files.readString(Path.of("../docs/reference/configuration.md"))
                        .split("\n## ")[1]);
        while (row.find()) {
            documented.put(row.group(1), row.group(2));
        }
        assertThat(documented).isEqualTo(expected);
    }

    @Test
    void helpGroupsOptionsAndShowsExamplesAndExitCodes() {
        serve("--help").exits(0);
        assertThat(last.out())
                .contains("Store:\n", "Listening:\n", "Security:\n", "Limits:\n", "Process:\n", "Examples:\n")
                .contains("Exit codes:\n  0   ");
        settings().forEach(option -> assertThat(last.out()).contains(option.longestName()));
    }
}
