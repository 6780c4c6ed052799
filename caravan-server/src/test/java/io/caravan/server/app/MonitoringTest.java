package io.caravan.server.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.caravan.ListStore;
import io.caravan.server.archive.Claims;
import io.caravan.server.archive.object.MemoryObjectStore;
import io.caravan.server.archive.object.MemoryObjects;
import io.caravan.server.archive.object.ObjectFault;
import io.caravan.server.archive.push.ArchiveConfig;
import io.caravan.server.net.NetworkConfig;
import io.caravan.server.net.NetworkLimits;
import io.caravan.server.net.Transport;
import io.caravan.server.protocol.resp.RespClient;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests that a scrape contains every metric, with its labels, that the dashboard and the alert rules use. */
class MonitoringTest {
    private static final Path DIRECTORY = Path.of("..", "docs", "monitoring");
    private static final Pattern EXPRESSION =
            Pattern.compile("\"expr\": \"((?:[^\"\\\\]|\\\\.)*)\"|(?m)^ +expr: '(.*)'$");
    private static final Pattern SELECTOR = Pattern.compile("(caravan_[a-z0-9_]+)\\{([^}]*)}");
    private static final Pattern MATCHER = Pattern.compile("([a-z_]+)(=~?)\"([^\"]*)\"");
    private static final Pattern GROUPING = Pattern.compile("by \\(([a-z_, ]+)\\)");
    /** The labels that Prometheus adds to each metric. */
    private static final List<String> ITS_OWN = List.of("job", "instance");

    /** Returns the metrics of a server with an archive and a space, after writes, reads, and a failure. */
    private static String scrape() throws Exception {
        MemoryObjectStore objects = new MemoryObjects(InstantSource.system()).client();
        ArchiveConfig archive =
                Claims.config("memory:", () -> objects, true, false, false, Duration.ofHours(10), 2, 0, false);

        try (ListStore store = ListStore.inMemory();
                ServerFixture server = new ServerFixture(
                        store, config -> config.withArchive(archive).withHttp(ServerFixture.HTTP));
                RespClient client = server.connect()) {
            objects.faults((number, call, key) -> ObjectFault.REJECTED);
            assertThat(client.call("CARAVAN.SPACE", "SET", "k", "max-values", "9"))
                    .startsWith("[");
            assertThat(client.call("RPUSH", "k", "v")).isEqualTo(":1");
            assertThat(client.call("CARAVAN.ARCHIVE", "k")).startsWith("-ARCHIVE");
            return server.get("/metrics");
        }
    }

    private static List<String> expressions() throws Exception {
        String both =
                Files.readString(DIRECTORY.resolve("grafana.json")) + Files.readString(DIRECTORY.resolve("alerts.yml"));
        return EXPRESSION
                .matcher(both)
                .results()
                .map(found ->
                        found.group(1) == null ? found.group(2) : found.group(1).replace("\\\"", "\""))
                .toList();
    }

    @ParameterizedTest
    @EnumSource
    void serverReportsEachAvailableTransport(Transport transport) throws Exception {
        assumeTrue(transport.unavailable() == null);
        NetworkConfig network = new NetworkConfig(transport, 1, NetworkLimits.defaults(), null);
        try (ServerFixture server = new ServerFixture(ListStore.inMemory(), config -> config.withNetwork(network));
                RespClient client = server.connect()) {
            assertThat(client.call("INFO", "server")).contains("multiplexing_api:" + transport.label() + "\r\n");
        }
    }

    @Test
    void scrapeContainsEveryUsedMetricWithLabels() throws Exception {
        List<String> lines = scrape().lines().toList();
        List<String> expressions = expressions();
        assertThat(expressions).hasSizeGreaterThan(30);
        for (String expression : expressions) {
            Matcher selector = SELECTOR.matcher(expression);
            while (selector.find()) {
                String name = selector.group(1);
                String labels = selector.group(2);
                assertThat(lines).as(expression).anyMatch(line -> fits(line, name, labels, expression));
            }
            assertThat(SELECTOR.matcher(expression).find() || expression.startsWith("up{"))
                    .as(expression)
                    .isTrue();
        }
    }

    private static boolean fits(String line, String name, String labels, String expression) {
        if (!line.startsWith(name + "{") && !line.startsWith(name + " ")) {
            return false;
        }
        boolean matches = MATCHER.matcher(labels)
                .results()
                .filter(label -> !ITS_OWN.contains(label.group(1)))
                .allMatch(label -> hasLabel(line, label.group(1), label.group(3)));
        Matcher grouping = GROUPING.matcher(expression);
        return matches
                && (!grouping.find()
                        || List.of(grouping.group(1).split(", ")).stream()
                                .filter(label -> !ITS_OWN.contains(label))
                                .allMatch(label -> hasLabel(line, label, ".*")));
    }

    private static boolean hasLabel(String line, String label, String value) {
        return Pattern.compile("[{,]" + label + "=\"(" + value + ")\"")
                .matcher(line)
                .find();
    }
}
