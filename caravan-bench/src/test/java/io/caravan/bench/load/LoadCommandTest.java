package io.caravan.bench.load;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.bench.Main;
import io.caravan.bench.server.ServerProcess;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LoadCommandTest {
    @TempDir
    private Path directory;

    @Test
    void everyAppendIsTimedAndNoneFails() throws IOException {
        try (ServerProcess server = new ServerProcess(directory.resolve("data"), directory.resolve("log"))) {
            server.start();
            InetSocketAddress address = server.awaitAddress();
            OpenLoop.Plan plan = new OpenLoop.Plan(1_000, 5, 1, 20, 100, 1);
            OpenLoop.Outcome outcome = new OpenLoop(plan, address).run();
            assertThat(outcome.all().getTotalCount()).isEqualTo(1_000);
            assertThat(outcome.first().getTotalCount()).isEqualTo(1_000);
            assertThat(outcome.all().getMinValue()).isPositive();
            assertThat(outcome.errors() + outcome.unanswered()).isZero();
            assertThat(load(address, "--value", "0")).isZero();
            assertThat(load(address, "--rate", "0")).isEqualTo(2);
        }
    }

    private static int load(InetSocketAddress server, String... options) {
        String[] arguments = {
            "load", "--port", Integer.toString(server.getPort()), "--seconds", "1", options[0], options[1]
        };
        return Main.run(arguments);
    }
}
