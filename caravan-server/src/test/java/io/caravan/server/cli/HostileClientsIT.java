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
 * Clients that want to stop a server of 256 MB: floods of each kind of request, requests sent by half, answers that nobody
 * reads, long names, patterns and subscriptions, over RESP and HTTP, with and without permissions. A client that behaves
 * is served throughout, and afterwards the process is there and holds nothing for the others.
 */
@Tag("slow")
class HostileClientsIT {
    private static final String SECRET = "may-do-everything-here-1";
    private static final List<String> EMPTY_AFTERWARDS = List.of(
            "caravan_requests_held_bytes",
            "caravan_answers_held_bytes",
            "caravan_waits_held_bytes",
            "caravan_subscriptions",
            "caravan_pops_waiting");

    @TempDir
    private Path directory;

    @Test
    void aClientThatBehavesIsServedBesideThem() throws Exception {
        run(Duration.ofMillis(50), "", attack -> attack.name().startsWith("half of "));
    }

    @Test
    @Tag("thorough")
    void aClientThatBehavesIsServedBesideThemForLong() throws Exception {
        run(Duration.ofSeconds(15), "", attack -> true);
    }

    @Test
    @Tag("thorough")
    void strangersDoNotGetInTheWayForLong() throws Exception {
        run(Duration.ofSeconds(5), SECRET, attack -> true);
    }

    /** Runs each of these attacks for so long; the secret, if there is one, is what they do not have. */
    private void run(Duration each, String secret, Predicate<HostileClients.Attack> attacks) throws Exception {
        Path log = directory.resolve("log");
        // A server that half of a request stops would go on when it gives that up, or closes who does nothing.
        List<String> options = new ArrayList<>(List.of("--request-timeout", "60m"));
        if (!secret.isEmpty()) {
            Path users = Files.writeString(
                    directory.resolve("users"),
                    "behaved.secret = " + secret + "\nbehaved.permissions = read, write, admin\n");
            options.addAll(List.of("--auth-file", users.toString()));
        }
        try (ServerProcess server = ServerJvm.start(
                directory.resolve("data"),
                // As the launchers have it.
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
            assertHoldsNothing(server, secret);
            assertThat(server.terminate()).as("exit code").isZero();
        }
        assertThat(Files.readString(log)).doesNotContain("OutOfMemoryError").doesNotContain("ERROR");
    }

    /** Makes documents with long names and a long list for the attacks to ask for. */
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

    private static void assertHoldsNothing(ServerProcess server, String secret) {
        HttpClient http = HttpClient.newHttpClient();
        for (String name : EMPTY_AFTERWARDS) {
            Eventually.await(name + " is 0", () -> metric(http, server, secret, name) <= 4_096);
        }
    }

    /** The request that asks is one that is held. */
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
