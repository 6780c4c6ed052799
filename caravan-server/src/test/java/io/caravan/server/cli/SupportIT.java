package io.caravan.server.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.server.cli.client.CommandRun;
import io.caravan.server.cli.common.Console;
import io.caravan.server.cli.support.SupportParts;
import io.caravan.server.config.Settings;
import io.caravan.server.protocol.resp.RespClient;
import io.caravan.testing.ServerProcess;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests that the support file contains none of the secrets that the test plants in all parts of the server. */
@Tag("slow")
class SupportIT {
    private static final String MARKER = "xPlantedMarkerx";
    private static final String HIDDEN = "(hidden)";
    private static final String SECRET = MARKER + "-secret";

    @TempDir
    private Path directory;

    private Path log() {
        return directory.resolve("log");
    }

    private ServerProcess start(Path data) throws IOException {
        Path users = Files.writeString(
                directory.resolve("users"),
                "operator.secret = " + SECRET + "\noperator.permissions = read, write, admin\n# " + MARKER + "\n");
        return ServerJvm.start(
                data,
                List.of("-Dapp.token=" + MARKER, "-D" + MARKER, "-Xmx300m"),
                Map.of(
                        "APP_TOKEN",
                        MARKER,
                        "CARAVAN_LOG_LEVEL",
                        "debug",
                        "CARAVAN_ARCHIVE",
                        "file:" + directory.resolve("archive")),
                log(),
                "--auth-file",
                users.toString(),
                "--allow-origin",
                "https://" + MARKER.toLowerCase(Locale.ROOT) + ".example");
    }

    private static void use(ServerProcess server) throws IOException {
        try (RespClient client = new RespClient(server.awaitAddress())) {
            assertThat(client.call("AUTH", MARKER)).startsWith("-WRONGPASS");
            assertThat(client.call("AUTH", "operator", SECRET)).isEqualTo("+OK");
            assertThat(client.call("CLIENT", "SETNAME", MARKER)).isEqualTo("+OK");
            assertThat(client.call("RPUSH", "letters/" + MARKER, MARKER)).isEqualTo(":1");
            assertThat(client.call("PEXPIRE", "letters/" + MARKER, "100000")).isEqualTo(":1");
            assertThat(client.call(MARKER, MARKER)).startsWith("-ERR unknown command");
        }
    }

    private CommandRun support(ServerProcess server, Path data, Path out) {
        String line = "support --store " + data + " --log " + log() + " --out " + out;
        return CommandRun.with(Map.of("CARAVAN_PASSWORD", SECRET, "APP_TOKEN", MARKER), new byte[0])
                .run("127.0.0.1:" + server.port(), line.split(" "));
    }

    @Test
    void supportFileContainsNoSecretsNamesOrValues() throws Exception {
        Path data = directory.resolve("data");
        Path out = directory.resolve("out.zip");
        try (ServerProcess server = start(data)) {
            use(server);
            support(server, data, out).exits(0);
            SupportParts parts = SupportParts.in(out);
            parts.hasNothingLike(out, MARKER);
            assertThat(Files.readString(log())).as("it was planted").contains("did not authenticate");
            assertThat(parts.part("machine/process.txt"))
                    .contains("-XX:+UseSerialGC ", " -D(hidden) (hidden) -Xmx300m", "Max open files", "VmRSS:");
            assertThat(parts.part("server/info.json")).contains("\"documents\" : \"1\"");
            assertThat(parts.part("log.txt"))
                    .contains("WARN Authenticator: … did not authenticate: wrong user or secret");
            assertHasAllStatistics(parts.part("server/info.json"), server);
            assertHasAllSettings(parts.part("server/settings.json"));
            assertHasAllMetrics(parts.part("server/metrics.txt"), server);
        }
    }

    /** Checks that the support file has all statistics except messages, locations, and text from other sources. */
    private static void assertHasAllStatistics(String info, ServerProcess server) {
        Set<String> leftOut = Set.of("store", "store_problem", "archive_location", "archive_last_error", "role", "db0");
        String all = CommandRun.with(Map.of("CARAVAN_PASSWORD", SECRET), new byte[0])
                .run("127.0.0.1:" + server.port(), "stat", "--json")
                .out();
        List<String> names = Pattern.compile("\"([a-z0-9_]+)\":")
                .matcher(all)
                .results()
                .map(found -> found.group(1))
                .toList();
        assertThat(names)
                .hasSizeGreaterThan(50)
                .filteredOn(name -> !leftOut.contains(name))
                .allSatisfy(name -> assertThat(info).contains("\"" + name + "\" : "));
        assertThat(info).doesNotContain(HIDDEN);
    }

    private static void assertHasAllSettings(String settings) {
        Main.commandLine(Map.of(), Console.system()).getSubcommands().get("serve").getCommandSpec().options().stream()
                .filter(option -> !Settings.notASetting(option))
                .forEach(option -> assertThat(settings).contains("\"name\" : \"" + Settings.fileName(option) + "\""));
    }

    private static void assertHasAllMetrics(String metrics, ServerProcess server) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.httpPort() + "/metrics"))
                .header("Authorization", "Bearer " + SECRET)
                .build();
        String all = HttpClient.newHttpClient()
                .send(request, HttpResponse.BodyHandlers.ofString())
                .body();
        List<String> names = all.lines()
                .filter(line -> !line.startsWith("#"))
                .map(line -> line.replaceAll("[{ ].*", ""))
                .distinct()
                .toList();
        assertThat(names)
                .hasSizeGreaterThan(30)
                .allSatisfy(name -> assertThat(metrics).containsPattern("(?m)^" + name + "[{ ]"));
    }
}
