package io.caravan.server.cli.migration;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.server.cli.client.CommandRun;
import io.caravan.server.cli.client.ServedStore;
import io.caravan.server.net.Tls;
import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.X509Bundle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import redis.clients.jedis.Jedis;

/** Tests imports of streams over HTTP. */
@Execution(ExecutionMode.CONCURRENT)
@Timeout(120)
class StreamImportTest {
    private static final String JSON = "application/json";
    private static final int MEBIBYTE = 1024 * 1024;
    private static final int LONG_BYTES = 3 * MEBIBYTE;

    @TempDir
    private Path directory;

    @AutoClose
    private final ServedStore from = new ServedStore(config -> config.withHttp(ServedStore.http()));

    @AutoClose
    private final ServedStore to = new ServedStore();

    private CommandRun importing(String... options) {
        return importingFrom(from.url() + "/v1/stream", options);
    }

    private CommandRun importingFrom(String url, String... options) {
        return importingFrom(Map.of(), url, options);
    }

    private CommandRun importingFrom(Map<String, String> environment, String url, String... options) {
        return CommandRun.with(environment, new byte[0])
                .run(to.address(), CommandRun.words(List.of("import", "--from", url), options));
    }

    private List<String> values(String name) {
        try (Jedis client = to.jedis()) {
            return client.lrange(name, 0, -1);
        }
    }

    private String stat(String name) {
        return CommandRun.of(to, "stat", name, "--json").out();
    }

    @Test
    void importsStreamsWithTypeExpiryAndClosure() throws Exception {
        from.send("PUT", "json", "[{\"a\": 1.0}, [2] ,\"x\"]", "Content-Type", JSON, "Stream-TTL", "1000");
        from.send("PUT", "text%20%C3%A9", "ab", "Content-Type", "text/plain; charset=utf-8");
        from.send("POST", "text%20%C3%A9", "cd", "Content-Type", "text/plain", "Stream-Closed", "true");
        from.send("PUT", "long", "", "Content-Type", "text/plain");
        for (int i = 0; i < LONG_BYTES / MEBIBYTE; i++) {
            from.send("POST", "long", "x".repeat(MEBIBYTE), "Content-Type", "text/plain");
        }
        from.send("PUT", "empty", "", "Content-Type", "text/a", "Stream-Expires-At", "2099-01-01T00:00:00Z");
        Path names = Files.writeString(directory.resolve("names"), "text é\n\nlong\nempty\n");

        importing("--name", "json", "--names", names.toString()).prints("imported 4 streams, 16 values, 3.0 MiB\n");
        assertThat(values("json")).containsExactly("{\"a\": 1.0}", "[2]", "\"x\"");
        assertThat(values("text é")).containsExactly("abcd");
        assertThat(String.join("", values("long"))).isEqualTo("x".repeat(LONG_BYTES));
        assertThat(stat("json"))
                .contains("\"content-type\":\"application/json\"", "\"ttl-seconds\":1000", "\"closed\":false");
        assertThat(stat("text é")).contains("\"content-type\":\"text/plain; charset=utf-8\"", "\"closed\":true");
        assertThat(stat("empty")).contains("\"expires-at-ms\":4070908800000", "\"values\":0");

        // The second import must find the documents equal, although it divides them into values differently.
        CommandRun second = importing("--name", "json", "--names", names.toString(), "--json")
                .exits(0);
        assertThat(second.out())
                .isEqualTo("{\"documents\":0,\"values\":0,\"bytes\":0,\"already\":4,\"skipped\":0,\"expired\":0,"
                        + "\"rejected\":0}\n");
    }

    @Test
    void reportsFailedStreamsAndImportsOthers() throws Exception {
        from.send("PUT", "a", "x", "Content-Type", "text/plain");
        CommandRun run = importing("--name", "missing", "--name", "n".repeat(1_025), "--name", "a");
        assertThat(run.err().lines())
                .containsExactly(
                        "caravan: the stream 'missing' does not exist there (404)",
                        "caravan: a stream was not imported: a document's name has 1 to 1024 bytes, and this one 1025");
        assertThat(run.out()).isEqualTo("imported 1 stream, 1 value, 1 B; 2 rejected\n");
        assertThat(run.exitCode()).isEqualTo(3);
    }

    @Test
    void existingDocumentIsRejectedSkippedOrReplaced() throws Exception {
        from.send("PUT", "a", "[1,2]", "Content-Type", JSON);
        try (Jedis client = to.jedis()) {
            client.rpush("a", "1", "2");
        }
        CommandRun rejected = importing("--name", "a").exits(3);
        assertThat(rejected.err())
                .isEqualTo("caravan: the stream 'a' was not imported: there is another document of this name, which"
                        + " --existing replace replaces\n");
        assertThat(importing("--name", "a", "--existing", "skip").out())
                .isEqualTo("imported 0 streams, 0 values, 0 B; 1 skipped\n");
        assertThat(stat("a")).contains("octet-stream");
        assertThat(importing("--name", "a", "--existing", "replace").out())
                .isEqualTo("imported 1 stream, 2 values, 2 B\n");
        assertThat(stat("a")).contains(JSON);
        // The stream has grown since the import.
        from.send("POST", "a", "3", "Content-Type", JSON);
        importing("--name", "a").exits(3);
        importing("--name", "a", "--existing", "replace").exits(0);
        assertThat(values("a")).containsExactly("1", "2", "3");
    }

    @Test
    void valueBoundariesMatterOnlyForJson() throws Exception {
        CommandRun.of(from, "append", "bytes", "ab", "c");
        from.send("PUT", "json", "[12,3]", "Content-Type", JSON);
        importing("--name", "json").exits(0);
        try (Jedis client = to.jedis()) {
            client.rpush("bytes", "a", "bc");
        }
        assertThat(importing("--name", "bytes", "--name", "json").out())
                .isEqualTo("imported 0 streams, 0 values, 0 B; 2 were there already\n");
        from.send("DELETE", "json", "", "Accept", "*/*");
        from.send("PUT", "json", "[1,23]", "Content-Type", JSON);
        importing("--name", "json").exits(3);
    }

    /** A stream must not be imported if the server fails after it has sent part of the stream. */
    @Test
    void partiallyReadStreamIsNotImported() throws Exception {
        String head = "Content-Type: text/plain\r\nStream-Next-Offset: 3\r\n";
        AtomicInteger gets = new AtomicInteger();
        try (FakeStreams fake = new FakeStreams(request -> request.startsWith("HEAD")
                ? FakeStreams.Response.of(head, "")
                : gets.getAndIncrement() == 0
                        ? FakeStreams.Response.of(head, "x".repeat(LONG_BYTES))
                        : FakeStreams.Response.of(410, "", ""))) {
            importingFrom(fake.uri().toString(), "--name", "a")
                    .exits(3, "the stream 'a' is deleted there, or was trimmed while it was read (410)");
        }
        assertThat(stat("a")).isEmpty();
        try (Jedis client = to.jedis()) {
            assertThat(client.rpush("a", "free")).isOne();
        }
    }

    @Test
    void rejectsInvalidJsonMessage() throws Exception {
        String head = "Content-Type: application/json\r\nStream-Next-Offset: 3\r\nStream-Up-To-Date: true\r\n";
        try (FakeStreams fake =
                new FakeStreams(request -> FakeStreams.Response.of(head, request.startsWith("HEAD") ? "" : "[1,{]]"))) {
            importingFrom(fake.uri().toString(), "--name", "a")
                    .exits(3, "the stream 'a' has a message that is not JSON");
        }
        assertThat(stat("a")).isEmpty();
    }

    @Test
    void readsTokenFromFileOrEnvironment() throws Exception {
        String head = "Content-Type: text/plain\r\nStream-Next-Offset: 3\r\nStream-Up-To-Date: true\r\n";
        try (FakeStreams fake = new FakeStreams(request -> request.contains("Authorization: Bearer s3cret")
                ? FakeStreams.Response.of(head, "")
                : FakeStreams.Response.of(401, "", ""))) {
            String url = fake.uri().toString();
            Path file = Files.writeString(directory.resolve("token"), "s3cret\n");
            importingFrom(url, "--name", "a", "--from-password-file", file.toString())
                    .exits(0);
            importingFrom(Map.of("CARAVAN_FROM_PASSWORD", "s3cret"), url, "--name", "b")
                    .exits(0);
            CommandRun without =
                    importingFrom(url, "--name", "c", "--name", "d").exits(1);
            assertThat(without.err()).startsWith("caravan: the server at " + url + " requires another token");
        }
    }

    @Test
    void tlsRequiresTrustedCertificateForHost() throws Exception {
        for (String address : List.of("127.0.0.1", "192.0.2.1")) {
            X509Bundle certificate = new CertificateBuilder()
                    .subject("CN=caravan")
                    .addSanIpAddress(address)
                    .setIsCertificateAuthority(true)
                    .buildSelfSigned();
            Path own = Files.writeString(directory.resolve("cert.pem"), certificate.getCertificatePathPEM());
            Path key = Files.writeString(directory.resolve("key.pem"), certificate.getPrivateKeyPEM());
            Tls tls = new Tls(own, key, null);
            try (ServedStore secure = ServedStore.overTls(tls)) {
                CommandRun.at(secure.address(), "append", "a", "x", "--tls-ca", own.toString());
                String url = "https://127.0.0.1:" + secure.httpPort() + "/v1/stream";
                CommandRun run = importingFrom(url, "--name", "a", "--from-tls-ca", own.toString());
                if (address.equals("127.0.0.1")) {
                    assertThat(run.err()).isEmpty();
                    assertThat(values("a")).containsExactly("x");
                    run = importingFrom(url, "--name", "a");
                }
                assertThat(run.err()).contains("TLS with https://127.0.0.1");
                assertThat(run.exitCode()).isEqualTo(1);
            }
        }
    }

    @Test
    void requiresStreamNamesAndHidesUrlSecret() {
        assertThat(importing().err()).contains("needs the names of streams: --name NAME or --names FILE");
        assertThat(importingFrom("redis://127.0.0.1:1", "--name", "a").err())
                .contains("--name and --names are for --from http://");
        CommandRun secret = importingFrom("http://user:s3cret@127.0.0.1:1/v1", "--name", "a")
                .exits(2);
        assertThat(secret.err()).contains("--from is not http://HOST:PORT/PATH").doesNotContain("s3cret");
        importingFrom("ftp://127.0.0.1:1", "--name", "a").exits(2);
    }
}
