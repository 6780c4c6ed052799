package io.caravan.server.cli.operate;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.server.cli.client.CommandRun;
import io.caravan.server.cli.client.ServedStore;
import io.caravan.server.cli.client.ServerInfo;
import io.caravan.server.cli.operate.Rates.Sample;
import io.caravan.server.cli.operate.Rates.Sample.Client;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Tests the statistics that {@code top} shows, and the rates that it computes from two samples. */
class TopCommandTest {
    private static Sample sample(long atSeconds, String statistics, Client... clients) {
        return new Sample(
                TimeUnit.SECONDS.toNanos(atSeconds), ServerInfo.parse("# S\r\n" + statistics), List.of(clients));
    }

    private static Client client(long id, long commands) {
        return Client.parse("id=" + id + " addr=[::1]:" + id + " name= user=u tot-cmds=" + commands);
    }

    @Test
    void computesCounterGrowthPerSecond() {
        Rates rates = new Rates(sample(10, "appends:100\r\n"), sample(14, "appends:300\r\nreads:7\r\n"));
        assertThat(rates.perSecond("appends")).isEqualTo(50);
        assertThat(new Rates(sample(10, "appends:100\r\n"), sample(14, "appends:3\r\n")).perSecond("appends"))
                .as("a server that was restarted")
                .isZero();
    }

    @Test
    void listsBusiestClientsFirst() {
        Rates rates = new Rates(
                sample(0, "", client(1, 1_000), client(2, 10)),
                sample(10, "", client(1, 1_010), client(2, 60), client(3, 30)));
        assertThat(rates.busiest())
                .extracting(busy -> busy.client().id() + ":" + busy.commandsPerSecond())
                .containsExactly("2:5.0", "3:3.0", "1:1.0");
    }

    @Test
    void secondLineShowsFailedStore() {
        Sample failed = sample(1, "store_state:failed\r\nstore_problem:disk gone\r\n");
        assertThat(Screen.lines(new Rates(failed, failed)).get(1).toString())
                .isEqualTo("THE STORE IS FAILED, IT REJECTS WRITES: disk gone");
    }

    @Test
    void printsSingleSample() throws IOException {
        try (ServedStore served = new ServedStore()) {
            CommandRun.of(served, "append", "a", "x", "y", "z");
            CommandRun top = CommandRun.of(served, "top", "--count", "1", "--interval", "100ms")
                    .succeeds();
            assertThat(top.out())
                    .contains("1 document", "each second", "acknowledged", "checkpoints", "disk ")
                    .containsPattern("appends +0\\.0 +3\n")
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
                            .contains("\"appendsPerSecond\":0.000", "\"busiestClients\":[]", "\"store_state\":\"ok\""));
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
