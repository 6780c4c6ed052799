package io.caravan.server.cli.migration;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.server.cli.ServerJvm;
import io.caravan.server.cli.client.CommandRun;
import io.caravan.server.cli.client.ServedStore;
import io.caravan.testing.FreePorts;
import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.X509Bundle;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.Jedis;

/** Tests imports of lists from a Redis server, and from fake servers with prepared replies. */
@Tag("slow")
@Execution(ExecutionMode.CONCURRENT)
@Timeout(120)
class RedisImportTest {
    private static final int MAX_VALUE_BYTES = 1024 * 1024;
    private static final int LONG_VALUES = 30_000;

    private final int tlsPort = FreePorts.next();

    @TempDir
    private Path directory;

    @AutoClose
    private final ServedStore to = new ServedStore();

    private CommandRun importing(String url, String... options) {
        return importing(Map.of(), url, options);
    }

    private CommandRun importing(Map<String, String> environment, String url, String... options) {
        return CommandRun.with(environment, new byte[0])
                .run(to.address(), CommandRun.words(List.of("import", "--from", url), options));
    }

    /** Pushes several short lists and a long one. */
    private static void fill(Jedis redis, int lists) {
        for (int i = 0; i < lists; i++) {
            redis.rpush("list/" + i, "a" + i, "", "c");
        }
        String[] values =
                IntStream.range(0, LONG_VALUES).mapToObj(i -> "value " + i).toArray(String[]::new);
        redis.rpush("long", values);
    }

    /** Checks that the documents equal the Redis lists. */
    private void same(Jedis redis) {
        try (Jedis caravan = to.jedis()) {
            assertThat(caravan.dbSize()).isEqualTo(redis.dbSize());
            for (String name : redis.keys("*")) {
                assertThat(caravan.lrange(name, 0, -1)).as(name).isEqualTo(redis.lrange(name, 0, -1));
                assertThat(caravan.pttl(name)).as(name).isBetween(redis.pttl(name) - 2_000, redis.pttl(name) + 2_000);
            }
        }
    }

    @Test
    void importsListsAndReportsUnimportableKeys() throws IOException {
        try (RedisServer redis = RedisServer.start()) {
            fill(redis.client, 1_000);
            redis.client.rpush("greatest".getBytes(UTF_8), new byte[MAX_VALUE_BYTES], new byte[] {0, -1, '\n'});
            redis.client.pexpire("list/7", 100_000);
            importing(redis.url())
                    .prints("imported 1,002 lists, 33,002 values, 1.3 MiB; in pass 2, 1,002 lists are the same\n");
            same(redis.client);

            redis.client.set("text\u001b", "x");
            redis.client.sadd("set", "x");
            redis.client.rpush("tooLarge".getBytes(UTF_8), "x".getBytes(UTF_8), new byte[MAX_VALUE_BYTES + 1]);
            redis.client.rpush("n".repeat(1_025), "x");
            redis.client.rpush("after", "x");
            CommandRun second = importing(redis.url()).exits(3);
            assertThat(second.err().lines())
                    .containsExactlyInAnyOrder(
                            "caravan: the list 'tooLarge' has a value of 1048577 bytes, at index 1; the server"
                                    + " accepts values of at most 1048576 bytes (--max-value)",
                            "caravan: the list '" + "n".repeat(64)
                                    + "' has a name of 1025 bytes; a document's has 1 to 1024");
            assertThat(second.out())
                    .isEqualTo("imported 1 list, 1 value, 1 B; in pass 2, 1,003 lists are the same; 1002 were there"
                            + " already; 2 rejected; no list: 1 set, such as 'set'; no list: 1 string, such as"
                            + " 'text\\u001b'\n");
            redis.client.del("text\u001b", "set", "tooLarge", "n".repeat(1_025));
            same(redis.client);
            assertThat(importing(redis.url(), "--json").out())
                    .isEqualTo("{\"documents\":0,\"values\":0,\"bytes\":0,\"passes\":1,\"same\":1003,\"already\":1003,"
                            + "\"skipped\":0,\"expired\":0,\"rejected\":0,\"others\":{}}\n");
        }
    }

    @Test
    void importsConcurrentWrites() throws IOException {
        try (RedisServer redis = RedisServer.start();
                RedisProxy proxy = new RedisProxy(redis.port)) {
            fill(redis.client, 30);
            redis.client.rpush("deleted", "x");
            redis.client.rpush("retyped", "x");
            // The first pass has one page of names. The lists change before the second pass requests it.
            proxy.at("SCAN", 2, () -> {
                redis.client.rpush("list/1", "appended");
                redis.client.lpush("list/2", "before");
                redis.client.ltrim("list/3", 1, 1);
                redis.client.lset("list/4", 0, "set");
                redis.client.pexpire("list/5", 100_000);
                redis.client.del("list/6");
                redis.client.rpush("list/6", "anew");
                redis.client.del("deleted", "retyped");
                redis.client.set("retyped", "x");
                redis.client.rpush("new", "x");
            });
            // The long list changes while its slices are read: first at its end, then at its start.
            proxy.at("EXEC", 1, () -> redis.client.rpush("long", "appended"));
            proxy.at("EXEC", 2, () -> redis.client.lpop("long"));
            CommandRun run = importing(proxy.url());
            assertThat(run.err().lines())
                    .containsExactlyInAnyOrder(
                            "caravan: the list 'deleted' was imported, and no longer exists; 'caravan rm' removes the document",
                            "caravan: the list 'retyped' was imported, and no longer exists; 'caravan rm' removes the document");
            assertThat(run.exitCode()).isEqualTo(3);
            assertThat(run.out()).contains("32 lists are the same; 2 rejected; no list: 1 string, such as 'retyped'");
            assertThat(proxy.count("SCAN")).isGreaterThan(2);
            try (Jedis caravan = to.jedis()) {
                caravan.del("deleted", "retyped");
            }
            redis.client.del("retyped");
            same(redis.client);
        }
    }

    /** A list must be imported completely even if it changes after the last pass has read it. */
    @Test
    void importsListChangedAfterItsTurnInLastPass() throws IOException {
        String written = COUNTED.replace(":7", ":8");
        String before = ":-1\r\n*1\r\n$1\r\na\r\n";
        String after = ":-1\r\n*2\r\n$1\r\na\r\n$1\r\nb\r\n";
        CommandRun run = importing(claimingToBeRedis(
                        false, COUNTED, SCANNED, before, COUNTED, SCANNED, before, written, SCANNED, after, after,
                        written, SCANNED, after, written))
                .exits(0, "stop all clients that write there");
        assertThat(run.out()).isEqualTo("imported 2 lists, 3 values, 3 B; in pass 4, 1 list is the same\n");
        try (Jedis caravan = to.jedis()) {
            assertThat(caravan.lrange("d", 0, -1)).containsExactly("a", "b");
        }
    }

    @Test
    void rejectsRedisWithoutChangeCounter() throws IOException {
        importing(claimingToBeRedis(false, "$11\r\nloading:0\r\n\r\n"))
                .exits(1, "Redis does not report its number of changes in INFO");
    }

    @Test
    void existingDocumentIsRejectedSkippedOrReplaced() throws IOException {
        try (RedisServer redis = RedisServer.start()) {
            fill(redis.client, 3);
            try (Jedis caravan = to.jedis()) {
                caravan.rpush("list/1", "other");
                caravan.rpush("long", "other");
            }
            CommandRun rejected = importing(redis.url()).exits(3);
            assertThat(rejected.err())
                    .contains("the list 'list/1' was not imported: there is another document of this name")
                    .contains("the list 'long' was not imported");
            CommandRun skipped = importing(redis.url(), "--existing", "skip").exits(0);
            assertThat(skipped.out()).contains("imported 0 lists,", "2 skipped");
            CommandRun replaced =
                    importing(redis.url(), "--existing", "replace").exits(0);
            assertThat(replaced.out()).startsWith("imported 2 lists, 30,003 values");
            same(redis.client);
        }
    }

    /** An import after a killed one must copy the missing values, without duplicates. */
    @Test
    void killedImportResumes() throws IOException, InterruptedException {
        killedAt("EXEC 1");
    }

    @ParameterizedTest
    @Tag("thorough")
    @ValueSource(strings = {"LRANGE 40", "LRANGE 70", "SCAN 2", "EXEC 2"})
    void importKilledAtAnyOtherCommandResumes(String moment) throws IOException, InterruptedException {
        killedAt(moment);
    }

    private void killedAt(String moment) throws IOException, InterruptedException {
        String[] when = moment.split(" ");
        try (RedisServer redis = RedisServer.start();
                RedisProxy proxy = new RedisProxy(redis.port)) {
            fill(redis.client, 50);
            AtomicReference<Process> process = new AtomicReference<>();
            proxy.at(when[0], Integer.parseInt(when[1]), () -> {
                process.get().destroyForcibly();
                redis.client.rpush("list/1", "after the kill");
                redis.client.rpush("new", "after the kill");
            });
            process.set(new ProcessBuilder(ServerJvm.command("import", "--server", to.address(), "--from", proxy.url()))
                    .redirectErrorStream(true)
                    .redirectOutput(directory.resolve("out").toFile())
                    .start());
            assertThat(process.get().waitFor(60, TimeUnit.SECONDS)).isTrue();
            assertThat(process.get().exitValue())
                    .as(Files.readString(directory.resolve("out")))
                    .isEqualTo(137);
            importing(redis.url(), "--existing", "replace").succeeds();
            same(redis.client);
        }
    }

    @Test
    void reportsKilledRedisAndResumesLater() throws IOException {
        try (RedisServer redis = RedisServer.start();
                RedisProxy proxy = new RedisProxy(redis.port)) {
            fill(redis.client, 50);
            proxy.at("LRANGE", 60, redis::kill);
            importing(proxy.url()).exits(1, "Redis at 127.0.0.1:", "run the import again, and it continues");
        }
        try (RedisServer redis = RedisServer.start()) {
            fill(redis.client, 50);
            importing(redis.url()).exits(0);
            same(redis.client);
        }
    }

    @Test
    void acceptsPasswordsAndReportsWrongOnes() throws IOException {
        try (RedisServer redis = RedisServer.start("--requirepass", "s3cret+:")) {
            redis.client.auth("s3cret+:");
            redis.client.select(2);
            redis.client.rpush("d", "x");
            String other = "redis://127.0.0.1:" + redis.port + "/2";
            Path file = Files.writeString(directory.resolve("password"), "s3cret+:\n");
            for (CommandRun run : List.of(
                    importing("redis://:s3cret+%3A@127.0.0.1:" + redis.port + "/2"),
                    importing("redis://default:s3cret+%3A@127.0.0.1:" + redis.port + "/2"),
                    importing(Map.of("CARAVAN_FROM_PASSWORD", "s3cret+:"), other),
                    importing(other, "--from-password-file", file.toString()))) {
                assertThat(run.err()).isEmpty();
                assertThat(run.out()).contains("1 list is the same");
            }
            CommandRun wrong =
                    importing("redis://u:s3cret-not@127.0.0.1:" + redis.port).exits(1);
            assertThat(wrong.err())
                    .contains("rejects the request: WRONGPASS", "CARAVAN_FROM_PASSWORD")
                    .doesNotContain("s3cret");
            assertThat(importing(other).err()).contains("rejects the request: NOAUTH");
            CommandRun url = importing("redis://u:s3cret@").exits(2);
            assertThat(url.err()).contains("--from is not redis://").doesNotContain("s3cret");
            assertThat(importing(other, "file").err()).contains("FILE and --from exclude each other");
        }
    }

    @Test
    void tlsRequiresTrustedCertificateForHost() throws Exception {
        X509Bundle mine = certificate("127.0.0.1");
        Path trusted = Files.writeString(directory.resolve("mine.pem"), mine.getCertificatePathPEM());
        try (RedisServer redis = overTls(mine)) {
            redis.client.rpush("list", "a", "b");
            String url = "rediss://127.0.0.1:" + tlsPort;
            CommandRun run = importing(url, "--from-tls-ca", trusted.toString());
            assertThat(run.err()).isEmpty();
            same(redis.client);
            assertThat(importing(url).err()).contains("TLS with Redis", "--from-tls-ca");
        }
        X509Bundle elsewhere = certificate("192.0.2.1");
        Path authority = Files.writeString(directory.resolve("elsewhere.pem"), elsewhere.getCertificatePathPEM());
        try (RedisServer redis = overTls(elsewhere)) {
            redis.client.rpush("other", "a");
            assertThat(importing("rediss://127.0.0.1:" + tlsPort, "--from-tls-ca", authority.toString())
                            .err())
                    .contains("TLS with Redis", "No subject alternative names matching IP address 127.0.0.1");
        }
    }

    private static X509Bundle certificate(String address) throws Exception {
        return new CertificateBuilder()
                .subject("CN=redis")
                .addSanIpAddress(address)
                .setIsCertificateAuthority(true)
                .buildSelfSigned();
    }

    private RedisServer overTls(X509Bundle own) throws IOException {
        return RedisServer.start(
                "--tls-port",
                String.valueOf(tlsPort),
                "--tls-cert-file",
                Files.writeString(directory.resolve("cert.pem"), own.getCertificatePathPEM())
                        .toString(),
                "--tls-key-file",
                Files.writeString(directory.resolve("key.pem"), own.getPrivateKeyPEM())
                        .toString(),
                "--tls-auth-clients",
                "no");
    }

    /** Starts a fake Redis server that sends only these replies, and returns its URL. */
    private static String claimingToBeRedis(boolean closes, String... replies) throws IOException {
        ServerSocket listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        Thread thread = new Thread(() -> {
            try (listener;
                    Socket client = listener.accept()) {
                for (String reply : replies) {
                    if (client.getInputStream().read(new byte[64 * 1024]) < 0) {
                        return;
                    }
                    client.getOutputStream().write(reply.getBytes(ISO_8859_1));
                }
                while (!closes && client.getInputStream().read() >= 0) {
                    // Waits until the client closes the connection.
                }
            } catch (IOException theClientHasEnough) {
                // The client is expected to close the connection.
            }
        });
        thread.setDaemon(true);
        thread.start();
        return "redis://127.0.0.1:" + listener.getLocalPort();
    }

    /** A reply to INFO, from which the import reads the number of changes that the Redis server has made. */
    private static final String COUNTED = "$53\r\nrdb_changes_since_last_save:7\r\nrdb_last_save_time:1\r\n\r\n";

    private static final String SCANNED = "*2\r\n$1\r\n0\r\n*1\r\n$1\r\nd\r\n";

    @ParameterizedTest
    @ValueSource(
            strings = {
                "+OK\r\n",
                ":1\r\n",
                "*-1\r\n",
                "-ERR no\r\n",
                "?\r\n",
                "*2\r\n$1\r\n0\r\n*999999999999\r\n",
                "*2\r\n$1\r\n0\r\n*2\r\n$99999999999\r\n",
                "*2\r\n*2\r\n*2\r\n",
                "*2\r\n$-1\r\n*0\r\n",
                "*2\r\n$1\r\n0\r\n*1\r\n$3\r\nabcdefgh\r\n"
            })
    void invalidReplyFailsImport(String reply) throws IOException {
        for (String url : List.of(claimingToBeRedis(false, reply), claimingToBeRedis(false, COUNTED, reply))) {
            CommandRun run = importing(url, "--timeout", "5").exits(1);
            assertThat(run.err()).startsWith("caravan: ").contains("Redis").doesNotContain("Exception");
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "$1\r\nx\r\n*0\r\n",
                ":-1\r\n*257\r\n",
                ":-1\r\n*1\r\n$-1\r\n",
                ":-1\r\n*1\r\n*1\r\n$1\r\nx\r\n",
                ":-1\r\n*2\r\n$1\r\nx\r\n-ERR gone\r\n",
                "+" // and a line that does not end
            })
    void invalidListReplyFailsImport(String reply) throws IOException {
        String fullReply = reply.equals("+") ? ":" + "1".repeat(300_000) : reply;
        CommandRun run = importing(claimingToBeRedis(false, COUNTED, SCANNED, fullReply), "--timeout", "5")
                .exits(1);
        assertThat(run.err()).startsWith("caravan: Redis at 127.0.0.1:").doesNotContain("Exception");
        try (Jedis caravan = to.jedis()) {
            assertThat(caravan.dbSize()).isZero();
        }
    }

    /** An import must report a server that stops replying or disconnects, without allocating the announced 512 MiB. */
    @Test
    void reportsUnresponsiveOrClosedRedis() throws IOException {
        importing(claimingToBeRedis(false, COUNTED, SCANNED, ":-1\r\n*1\r\n$536870912\r\nx"), "--timeout", "5")
                .exits(1, "has not replied for 5 s; if it is just slow, raise --timeout");
        importing(claimingToBeRedis(true, COUNTED, SCANNED, ":-1\r\n*1\r\n$100\r\nx"))
                .exits(1, "the server has closed it");
    }

    /** An import must succeed even if a list, or the document imported from it, expires during the import. */
    @Test
    void importSucceedsDespiteConcurrentExpiry() throws IOException {
        String none = "*2\r\n$1\r\n0\r\n*0\r\n";
        String list = "\r\n*1\r\n$1\r\nx\r\n";
        for (String left : List.of(":0", ":1", ":500")) {
            importing(claimingToBeRedis(false, COUNTED, SCANNED, left + list, COUNTED, none, COUNTED))
                    .succeeds();
        }
    }
}
