package io.caravan.server.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.server.protocol.resp.RespClient;
import io.caravan.testing.Eventually;
import io.caravan.testing.ServerProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests that clients cannot stop a server with a 256 MB JVM heap through partial requests, unread replies, floods of
 * requests, or long names, patterns, and subscriptions. The clients use RESP and HTTP, with and without permissions.
 *
 * <p>The server must serve a well-behaved client throughout. Afterward, the server must still be running and must have
 * released the memory for the attackers.
 */
@Tag("slow")
class HostileClientsIT {
    private static final String SECRET = "may-do-everything-here-1";
    private static final List<String> EMPTY_AFTERWARDS = List.of(
            "caravan_requests_in_flight_bytes",
            "caravan_replies_pending_bytes",
            "caravan_waits_bytes",
            "caravan_subscriptions",
            "caravan_blocked_pops");

    @TempDir
    private Path directory;

    @Test
    void servesWellBehavedClientDuringAttacks() throws Exception {
        run(Duration.ofMillis(50), "", attack -> attack.name().startsWith("half of "));
    }

    @Test
    @Tag("thorough")
    void servesWellBehavedClientDuringLongAttacks() throws Exception {
        run(Duration.ofSeconds(15), "", attack -> true);
    }

    @Test
    @Tag("thorough")
    void servesClientDuringLongUnauthenticatedAttacks() throws Exception {
        run(Duration.ofSeconds(5), SECRET, attack -> true);
    }

    /** Runs each selected attack for {@code each}. If {@code secret} is not empty, the attackers do not know it. */
    private void run(Duration each, String secret, Predicate<HostileClients.Attack> attacks) throws Exception {
        Path log = directory.resolve("log");
        // With a short timeout, the server would recover from blocking partial requests by itself, and would close idle
        // clients.
        List<String> options = new ArrayList<>(List.of("--request-timeout", "60m"));
        if (!secret.isEmpty()) {
            Path users = Files.writeString(
                    directory.resolve("users"),
                    "behaved.secret = " + secret + "\nbehaved.permissions = read, write, admin\n");
            options.addAll(List.of("--auth-file", users.toString()));
        }
        try (ServerProcess server = ServerJvm.start(
                directory.resolve("data"),
                // The JVM options that the launchers set.
                List.of("-Xmx256m", "-XX:+ExitOnOutOfMemoryError"),
                Map.of(),
                log,
                options.toArray(String[]::new))) {
            prepare(server, secret);
            for (HostileClients.Attack attack :
                    HostileClients.ATTACKS.stream().filter(attacks).toList()) {
                try (WellBehaved client = new WellBehaved(server, secret);
                        HostileClients attackers = new HostileClients(server, attack)) {
                    attackers.attack(each);
                    client.awaitAnother();
                    client.assertServed(attack.name());
                } catch (IOException | AssertionError failed) {
                    throw new AssertionError(attack.name() + ": " + Files.readString(log), failed);
                }
            }
            assertMemoryReleased(server, secret);
            assertThat(server.terminate()).as("exit code").isZero();
        }
        assertThat(Files.readString(log)).doesNotContain("OutOfMemoryError").doesNotContain("ERROR");
    }

    /** Creates the documents that the attacks request: some with long names, and one with many values. */
    private static void prepare(ServerProcess server, String secret) throws IOException {
        try (RespClient client = new RespClient(server.awaitAddress())) {
            if (!secret.isEmpty()) {
                assertThat(client.call("AUTH", secret)).isEqualTo("+OK");
            }
            int names = 2_000;
            for (int i = 0; i < names; i++) {
                client.send("RPUSH", HostileClients.longName(i), "v");
            }
            for (int i = 0; i < names; i++) {
                assertThat(client.read()).isEqualTo(":1");
            }
            String value = "v".repeat(10_000);
            for (int i = 1; i <= 100; i++) {
                assertThat(client.call("RPUSH", "long", value)).isEqualTo(":" + i);
            }
        }
    }

    private static void assertMemoryReleased(ServerProcess server, String secret) {
        HttpClient http = HttpClient.newHttpClient();
        for (String name : EMPTY_AFTERWARDS) {
            Eventually.await(name + " is 0", () -> metric(http, server, secret, name) <= 4_096);
        }
    }

    /** Returns the value of one of the server's metrics. The value includes the effect of this request. */
    private static double metric(HttpClient http, ServerProcess server, String secret, String name) {
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.httpPort() + "/metrics"))
                .header("Authorization", "Bearer " + secret)
                .build();
        try {
            String text =
                    http.send(request, HttpResponse.BodyHandlers.ofString()).body();
            Matcher line = Pattern.compile("(?m)^" + name + " ([0-9.E+-]+)$").matcher(text);
            assertThat(line.find()).as("%s in %s", name, text).isTrue();
            return Double.parseDouble(line.group(1));
        } catch (IOException broken) {
            throw new UncheckedIOException(broken);
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(stopped);
        }
    }
}
