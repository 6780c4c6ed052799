package io.caravan.server.cli.migration;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.server.cli.client.CommandRun;
import io.caravan.server.cli.client.ServedStore;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.commands.ProtocolCommand;

/** Tests copies of documents between servers over HTTP only. */
@Tag("slow")
@Execution(ExecutionMode.CONCURRENT)
@Timeout(120)
class HttpCopyTest {
    private static final int MEBIBYTE = 1024 * 1024;
    private static final ProtocolCommand SPACE = () -> "CARAVAN.SPACE".getBytes(UTF_8);

    @AutoClose
    private final ServedStore from = new ServedStore(config -> config.withHttp(ServedStore.http()));

    @AutoClose
    private final ServedStore to = new ServedStore(config -> config.withHttp(ServedStore.http()));

    private CommandRun copy(String... options) {
        return CommandRun.of(from, CommandRun.words(List.of("copy", "--to", to.url()), options));
    }

    /** Creates short, long, trimmed, and binary documents, with all attributes and a value of the maximum length. */
    private void fill() throws Exception {
        try (Jedis client = from.jedis()) {
            for (int i = 0; i < 300; i++) {
                client.rpush("short/" + i, "a" + i, "", "c");
            }
            client.rpush(new byte[] {'n', '/', -1, ' '}, new byte[] {0, -1, '\n'}, new byte[MEBIBYTE]);
            for (int i = 0; i < 50; i++) {
                client.rpush("long".getBytes(UTF_8), new byte[60_000], ("v" + i).getBytes(UTF_8));
            }
            client.ltrim("long", 7, -1);
        }
        from.send("PUT", "json", "[1, {\"a\": 1.0}]", "Content-Type", "application/json", "Stream-TTL", "1000");
        from.send(
                "POST",
                "json",
                "[3]",
                "Content-Type",
                "application/json",
                "Producer-Id",
                "p",
                "Producer-Epoch",
                "200",
                "Producer-Seq",
                "0",
                "Stream-Seq",
                "s1",
                "Stream-Closed",
                "true");
        from.send("PUT", "empty", "", "Content-Type", "text/a", "Stream-Expires-At", "2099-01-01T00:00:00Z");
    }

    @Test
    void copiesDocumentsUnchanged() throws Exception {
        fill();
        CommandRun first = copy().succeeds();
        assertThat(first.out()).startsWith("copied 304 documents, 998 values, ");
        assertThat(to.exported()).isEqualTo(from.exported());

        CommandRun again = copy("--resume", "--json").exits(0);
        assertThat(again.out()).contains("\"documents\":0,", "\"already\":304,", "\"rejected\":0");
    }

    /** A copy must keep names that clients, proxies, or the protocol would interpret as other paths. */
    @Test
    void keepsNamesThatAreAmbiguousAsPaths() throws Exception {
        List<String> names = List.of("rooms/../payroll", "payroll", ".", "..", "a//b", "__ds/x", "__name/x");
        try (Jedis client = from.jedis()) {
            names.forEach(name -> client.rpush(name, "in " + name));
        }
        CommandRun copied = CommandRun.at("127.0.0.1:1", "copy", "--from", from.url(), "--to", to.url());
        assertThat(copied.err()).isEmpty();
        assertThat(to.exported()).isEqualTo(from.exported());
    }

    @Test
    void copiesFromHttpOnlyServer() throws Exception {
        fill();
        String[] words = {"copy", "--from", from.url(), "--to", to.address()};
        CommandRun copied = CommandRun.at("127.0.0.1:1", words);
        assertThat(copied.err()).isEmpty();
        assertThat(copied.out()).startsWith("copied 304 documents, 998 values, ");
        assertThat(to.exported()).isEqualTo(from.exported());
        String[] short1 = {"copy", "short/1", "--from", from.url(), "--to", to.address(), "--resume"};
        assertThat(CommandRun.at("127.0.0.1:1", short1).out()).contains("1 were there already");
        for (String unfit : List.of("127.0.0.1:1", "http://u:s3cret@127.0.0.1:1", "http://127.0.0.1:1/path")) {
            CommandRun rejected = copy("--from", unfit).exits(2);
            assertThat(rejected.err()).contains("--from is neither").doesNotContain("s3cret");
        }
        try (FakeStreams fake = new FakeStreams(request -> FakeStreams.Response.of(401, "", ""))) {
            copy("--from", "http://127.0.0.1:" + fake.uri().getPort())
                    .exits(1, "CARAVAN_FROM_PASSWORD or with --from-password-file FILE");
        }
    }

    /** A copy must resume after an earlier copy was killed and left an invisible part of a long document. */
    @Test
    void interruptedCopyResumes() throws Exception {
        fill();
        copy("short/1").exits(0);
        for (String step : List.of("begin&first=0", "begin&first=7")) {
            HttpRequest part = HttpRequest.newBuilder(URI.create(to.url() + "/v1/import/long?step=" + step))
                    .POST(BodyPublishers.ofString("{\"attributes\":{\"content-type\":\"text/a\"}}"))
                    .build();
            assertThat(HttpClient.newHttpClient()
                            .send(part, BodyHandlers.discarding())
                            .statusCode())
                    .isEqualTo(200);
        }
        assertThat(copy("--resume").out()).startsWith("copied 303 documents, ").contains("; 1 were there already");
        assertThat(to.exported()).isEqualTo(from.exported());
    }

    /** A rejected document must not stop the copying of others, even if the server has already received parts of it. */
    @Test
    void reportsRejectedDocumentAndCopiesOthers() throws Exception {
        fill();
        try (Jedis other = to.jedis()) {
            other.sendCommand(SPACE, "SET", "long", "max-bytes", "1500000");
            CommandRun overResp = CommandRun.of(from, "copy", "--to", to.address());
            CommandRun overHttp = copy("--resume");
            for (CommandRun run : List.of(overResp, overHttp)) {
                assertThat(run.exitCode()).as(run.err()).isEqualTo(3);
                assertThat(run.err()).contains("document 'long' was not imported", "max-bytes 1500000");
            }
            assertThat(overResp.out()).startsWith("copied 303 documents, ");
            assertThat(overHttp.out()).contains("; 303 were there already");
            assertThat(other.dbSize()).isEqualTo(303);
            other.sendCommand(SPACE, "REMOVE", "long");
        }
        assertThat(copy("--resume").out()).startsWith("copied 1 document, ");
        assertThat(to.exported()).isEqualTo(from.exported());
    }

    @Test
    void existingDocumentIsRejectedSkippedOrReplaced() {
        try (Jedis client = from.jedis();
                Jedis other = to.jedis()) {
            client.rpush("a", "1");
            other.rpush("a", "2", "3");
            copy("a").exits(3, "document 'a' was not imported: document 'a' exists");
            assertThat(copy("--existing", "skip").out()).contains("1 skipped");
            assertThat(other.lrange("a", 0, -1)).containsExactly("2", "3");
            copy("--existing", "replace").exits(0);
            assertThat(other.lrange("a", 0, -1)).containsExactly("1");
        }
    }

    @Test
    void reportsInvalidAddressesAndTokens() throws Exception {
        try (Jedis client = from.jedis()) {
            client.rpush("a", "1");
        }
        copy("--to-user", "mover").exits(2, "over HTTP, the token identifies the user");
        assertThat(copy("--to-tls-ca", "none").err()).contains("--to-tls-ca requires https://");
        CommandRun secret = CommandRun.of(from, "copy", "--to", "http://u:s3cret@127.0.0.1:1")
                .exits(2);
        assertThat(secret.err()).doesNotContain("s3cret");
        try (FakeStreams fake = new FakeStreams(request -> request.endsWith("Authorization: Bearer t0ken")
                ? FakeStreams.Response.of(404, "", "<html>")
                : FakeStreams.Response.of(401, "", ""))) {
            String address = "http://127.0.0.1:" + fake.uri().getPort();
            CommandRun.of(from, "copy", "--to", address).exits(1, "requires another token");
            CommandRun with = CommandRun.with(Map.of("CARAVAN_TO_PASSWORD", "t0ken"), new byte[0])
                    .run(from.address(), "copy", "--to", address);
            assertThat(with.err()).contains("responds with status 404: it is not a Caravan server");
        }
    }
}
