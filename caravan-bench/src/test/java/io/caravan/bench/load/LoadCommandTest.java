package io.caravan.bench.load;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.bench.Main;
import io.caravan.testing.ServerProcess;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("slow")
class LoadCommandTest {
    @TempDir
    private Path directory;

    @Test
    void timesAllAppendsAndRejectsInvalidOptions() throws IOException {
        try (ServerProcess server = new ServerProcess(directory.resolve("data"), directory.resolve("log"))) {
            server.start();
            InetSocketAddress address = server.awaitAddress();
            OpenLoop.Plan plan = new OpenLoop.Plan(1_000, 5, 1, 20, 100, 1);
            OpenLoop.Outcome outcome = new OpenLoop(plan, new RespAppends(100), address).run();
            assertThat(outcome.all().getTotalCount()).isEqualTo(1_000);
            assertThat(outcome.first().getTotalCount()).isEqualTo(1_000);
            assertThat(outcome.all().getMinValue()).isPositive();
            assertThat(outcome.late().getTotalCount()).isEqualTo(1_000);
            assertThat(outcome.errors() + outcome.withoutReply()).isZero();
            assertThat(load(address, "--value", "0")).isZero();
            assertThat(load(address, "--rate", "0")).isEqualTo(2);
            assertThat(load(address, "--value", "-1")).isEqualTo(2);
            assertThat(load(address, "--value", "65537")).isEqualTo(2);
        }
    }

    @Test
    void warmUpServerRepliesToEveryAppend() throws IOException {
        RespAppends protocol = new RespAppends(OpenLoop.MAX_VALUE_BYTES);
        try (Echo echo = Echo.start(protocol)) {
            OpenLoop.Plan plan = new OpenLoop.Plan(500, 5, 1, 20, OpenLoop.MAX_VALUE_BYTES, 1);
            OpenLoop.Outcome outcome = new OpenLoop(plan, protocol, echo.address()).run();
            assertThat(outcome.all().getTotalCount()).isEqualTo(500);
            assertThat(outcome.errors() + outcome.withoutReply()).isZero();
        }
    }

    @Test
    void reportsSlowClient() {
        Timeline timeline = new Timeline(0, 1);
        Histogram late = new Histogram(3);
        late.recordValueWithCount(1, 997);
        assertThat(new OpenLoop.Outcome(timeline, late, 0, 0).clientTooSlow()).isFalse();
        late.recordValueWithCount(6_000, 3);
        assertThat(new OpenLoop.Outcome(timeline, late, 0, 0).clientTooSlow()).isTrue();
    }

    private static int load(InetSocketAddress server, String... options) {
        String[] arguments = {
            "load", "--port", Integer.toString(server.getPort()), "--seconds", "1", options[0], options[1]
        };
        return Main.run(arguments);
    }
}
