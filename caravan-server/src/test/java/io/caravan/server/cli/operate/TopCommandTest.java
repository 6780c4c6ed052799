package io.caravan.server.cli.operate;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.server.cli.client.CommandRun;
import io.caravan.server.cli.client.ServedStore;
import io.caravan.server.cli.client.ServerInfo;
import io.caravan.server.cli.operate.TopReport.Sample;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Tests the statistics that {@code top} shows, and the rates that it computes from two samples. */
class TopCommandTest {
    @SafeVarargs
    private static Sample sample(long atSeconds, String statistics, Map<String, String>... clients) {
        return new Sample(
                TimeUnit.SECONDS.toNanos(atSeconds), ServerInfo.parse("# S\r\n" + statistics), List.of(clients));
    }

    private static Map<String, String> client(long id, long commands) {
        return Sample.client("id=" + id + " addr=[::1]:" + id + " name= user=u tot-cmds=" + commands);
    }

    @Test
    void computesCounterGrowthPerSecond() {
        TopReport rates = new TopReport(sample(10, "appends:100\r\n"), sample(14, "appends:300\r\nreads:7\r\n"));
        assertThat(rates.perSecond("appends")).isEqualTo(50);
        assertThat(new TopReport(sample(10, "appends:100\r\n"), sample(14, "appends:3\r\n")).perSecond("appends"))
                .as("a server that was restarted")
                .isZero();
    }

    @Test
    void listsBusiestClientsFirst() {
        TopReport rates = new TopReport(
                sample(0, "", client(1, 1_000), client(2, 10)),
                sample(10, "", client(1, 1_010), client(2, 60), client(3, 30)));
        assertThat(rates.busiest())
                .extracting(busy -> busy.address() + " " + busy.commandsPerSecond())
                .containsExactly("[::1]:2 5.000", "[::1]:3 3.000", "[::1]:1 1.000");
    }

    @Test
    void showsFailedStoreFirst() {
        Sample failed = sample(1, "store_state:failed\r\nstore_problem:disk gone\r\n");
        assertThat(new TopReport(failed, failed).lines().get(0)).isEqualTo("IT REJECTS WRITES: disk gone");
    }

    @Test
    void omitsLinesOfMissingStatistics() {
        Sample follower = sample(
                1,
                "caravan_version:1\r\nuptime_in_seconds:9\r\ncluster_slots:0-16383\r\ncluster_role:follower\r\n"
                        + "cluster_leader:\r\ncluster_unapplied_entries:3\r\n");
        assertThat(new TopReport(follower, follower).lines())
                .contains("cluster      follower of slots 0-16383, 3 entries behind")
                .noneMatch(line -> line.contains("caravan ") || line.contains("leader "));
    }

    @Test
    void removesControlCharactersFromNamesOfClients() {
        Sample sample = sample(1, "", Sample.client("id=1 name=\u001b[2J tot-cmds=1"));
        assertThat(String.join("", new TopReport(sample, sample).lines())).doesNotContain("\u001b");
    }

    @Test
    void printsSingleSample() throws IOException {
        try (ServedStore served = new ServedStore()) {
            CommandRun.of(served, "append", "a", "x", "y", "z");
            CommandRun top = CommandRun.of(served, "top", "--count", "1", "--interval", "100ms")
                    .succeeds();
            assertThat(top.out())
                    .contains("documents: 1", "each second", "acknowledged", "checkpoints", "disk ")
                    .containsPattern("appends +0\\.0 +3\n")
                    .containsPattern("appended bytes +0 B +3 B\n")
                    .doesNotContain("\u001b");
            assertThat(top.out().lines()).allMatch(line -> line.length() <= 100);
        }
    }

    @Test
    void printsEachSampleAsJsonLine() throws IOException {
        try (ServedStore served = new ServedStore()) {
            CommandRun top = CommandRun.of(served, "top", "--count", "2", "--interval", "100ms", "--json");
            assertThat(top.out().lines())
                    .hasSize(2)
                    .allSatisfy(line -> assertThat(line)
                            .startsWith("{\"at\":\"")
                            .contains("\"appends\":0.000", "\"busiestClients\":[]", "\"store_state\":\"ok\""));
        }
    }

    @Test
    void failsIfServerIsDownAtStart() throws IOException {
        try (ServedStore served = new ServedStore()) {
            served.stop();
            CommandRun.of(served, "top", "--count", "1").exits(1, "no server listens at");
            served.start();
        }
    }

    @Test
    void rejectsInvalidOptions() throws IOException {
        try (ServedStore served = new ServedStore()) {
            CommandRun.of(served, "top", "--interval", "1ms").exits(2);
            CommandRun.of(served, "top", "--count", "0").exits(2);
        }
    }
}
