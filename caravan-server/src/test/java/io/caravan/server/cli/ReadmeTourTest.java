package io.caravan.server.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.caravan.Durability;
import io.caravan.ListStore;
import io.caravan.server.app.Server;
import io.caravan.server.app.ServerConfig;
import io.caravan.server.protocol.http.HttpConfig;
import io.caravan.server.protocol.resp.RespLimits;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Tests that the commands in the README print the output that the README shows. */
class ReadmeTourTest {
    private static final int VALUE_BYTES = 1024 * 1024;
    private static final Pattern BLOCK = Pattern.compile("```\n(\\$ (?:redis-cli|curl) .*?)```", Pattern.DOTALL);

    /** A command on a documentation page, and the output that the page shows. */
    record Step(String command, StringBuilder prints) {
        /** Returns the commands in those parts of a page that the pattern matches. */
        static List<Step> in(String text, Pattern block) {
            List<Step> steps = new ArrayList<>();
            block.matcher(text)
                    .results()
                    .flatMap(found -> found.group(1).lines())
                    .forEach(line -> {
                        if (line.startsWith("$ ")) {
                            steps.add(new Step(line.substring(2), new StringBuilder()));
                        } else {
                            steps.get(steps.size() - 1).prints().append(line).append('\n');
                        }
                    });
            return steps;
        }
    }

    @Test
    void readmeCommandsPrintDocumentedOutput() throws Exception {
        assumeTrue(has("redis-cli") && has("curl"), "redis-cli and curl are needed");
        InetSocketAddress any = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        ServerConfig config = new ServerConfig(any, new RespLimits(VALUE_BYTES, VALUE_BYTES), Durability.MEMORY)
                .withHttp(HttpConfig.of(any, VALUE_BYTES, 4 * VALUE_BYTES));
        List<Step> tour = Step.in(Files.readString(Path.of("..", "README.md")), BLOCK);
        assertThat(tour).hasSizeGreaterThan(6);
        try (ListStore store = ListStore.inMemory();
                Server server = Server.start(store, config)) {
            for (Step step : tour) {
                assertThat(run(here(step.command(), server)))
                        .as(step.command())
                        .isEqualTo(step.prints().toString());
            }
        }
    }

    /** Returns the command with this server's ports, and with the redis-cli option for terminal output. */
    private static String here(String command, Server server) {
        InetSocketAddress http = server.httpAddress();
        return command.replace(
                        "redis-cli -p 6380",
                        "redis-cli --no-raw -p " + server.respAddress().getPort())
                .replace("127.0.0.1:4437", "127.0.0.1:" + http.getPort());
    }

    private static boolean has(String program) throws Exception {
        return new ProcessBuilder("sh", "-c", "command -v " + program).start().waitFor() == 0;
    }

    /** Returns the output of the command, with a newline at the end. */
    private static String run(String command) throws Exception {
        Process process = new ProcessBuilder("sh", "-c", command)
                .redirectErrorStream(true)
                .start();
        String printed = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as("%s: %s", command, printed).isZero();
        return printed.isEmpty() || printed.endsWith("\n") ? printed : printed + "\n";
    }
}
