package io.caravan.server.cli.client;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.server.net.Tls;
import io.caravan.server.security.Authenticator;
import io.caravan.testing.FreePorts;
import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.X509Bundle;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the options that commands use to find a server and to authenticate, and the messages about failures. */
@Timeout(120)
class ConnectionOptionsTest {
    private static final String SECRET = "correct-horse";

    @TempDir
    private Path directory;

    private static ServedStore withPassword() throws IOException {
        Authenticator authenticator = Authenticator.ofPassword(SECRET.getBytes(UTF_8));
        return new ServedStore(config -> config.withAuthenticator(authenticator));
    }

    private static CommandRun list(String address, Map<String, String> environment, String... options) {
        return CommandRun.with(environment, new byte[0]).run(address, CommandRun.words(List.of("ls"), options));
    }

    private static void assertFailed(CommandRun run, String part) {
        assertThat(run.exitCode()).isOne();
        assertThat(run.out()).isEmpty();
        assertThat(run.err()).startsWith("caravan: ").contains(part).hasLineCount(1);
    }

    @Test
    void readsPasswordFromEnvironmentOrFile() throws IOException {
        Path file = Files.writeString(directory.resolve("password"), SECRET + "\n");
        try (ServedStore served = withPassword()) {
            list(served.address(), Map.of("CARAVAN_PASSWORD", SECRET)).exits(0);
            list(served.address(), Map.of(), "--password-file", file.toString()).exits(0);
            list(
                            served.address(),
                            Map.of("CARAVAN_PASSWORD", "wrong"),
                            "--user",
                            "default",
                            "--password-file",
                            file.toString())
                    .exits(0);
        }
    }

    @Test
    void reportsMissingOrWrongPassword() throws IOException {
        try (ServedStore served = withPassword()) {
            assertFailed(list(served.address(), Map.of()), "the password in the environment variable CARAVAN_PASSWORD");
            String wrong = "wrong-secret";
            CommandRun run = list(served.address(), Map.of("CARAVAN_PASSWORD", wrong));
            assertFailed(run, "does not know this user and password");
            assertThat(run.err()).doesNotContain(wrong);
        }
    }

    @Test
    void adviceNamesOptionsOfServerThatFailed() throws IOException {
        try (ServedStore served = withPassword();
                ServedStore open = new ServedStore()) {
            CommandRun.of(open, "append", "d", "v").exits(0);
            CommandRun.of(open, "copy", "d", "--to", served.address())
                    .exits(1, "CARAVAN_TO_PASSWORD", "--to-password-file", "--to-user");
            CommandRun.of(open, "copy", "d", "--to", "127.0.0.1:1").exits(1, "set the address with --to HOST:PORT");
            CommandRun.of(open, "import", "--from", "redis://127.0.0.1:1")
                    .exits(1, "no Redis server listens at 127.0.0.1:1");
            CommandRun.at("127.0.0.1:1", "ls").exits(1, "set the address with --server HOST:PORT");
        }
    }

    @Test
    void rejectsInvalidPasswordFiles() throws IOException {
        Path empty = Files.writeString(directory.resolve("empty"), "\n");
        Path tooLong = Files.write(directory.resolve("long"), new byte[5000]);
        CommandRun run = list("127.0.0.1:1", Map.of(), "--password-file", empty.toString())
                .exits(2, "is empty");
        run = list("127.0.0.1:1", Map.of(), "--password-file", tooLong.toString());
        assertThat(run.exitCode()).isEqualTo(2);
        assertThat(run.err()).contains("longer than a password");
        String absent = directory.resolve("absent").toString();
        assertFailed(list("127.0.0.1:1", Map.of(), "--password-file", absent), "there is no file '" + absent + "'");
    }

    @Test
    void noCommandPrintsPassword() throws IOException {
        Map<String, String> environment = Map.of("CARAVAN_PASSWORD", SECRET);
        try (ServedStore served = withPassword()) {
            for (String words : new String[] {"append d v", "get d", "get e", "trim d --to 0", "ls", "stat", "rm d"}) {
                CommandRun run = CommandRun.with(environment, new byte[0]).run(served.address(), words.split(" "));
                assertThat(run.out() + run.err()).isNotEmpty().doesNotContain(SECRET);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "copy d --to user:correct-horse@host",
                "copy d --to correct-horse@host:6380",
                "copy d --to user:correct-horse@host:6380",
                "copy d --to redis://user:correct-horse@host:6380",
                "copy d --to http://user:correct-horse@host:4437",
                "move d --to user:correct-horse@@host",
                "get d --server user:correct-horse@host:6380",
                "import --from redis://user:correct-horse@host:x",
                "import --from https://user:correct-horse@host --name d",
                "serve --resp user:correct-horse@127.0.0.1:6380",
                "serve --archive s3://user:correct-horse@bucket",
                "serve --archive s3://bucket --s3-endpoint http://user:correct-horse@host:x:y",
                "doctor --archive s3://bucket --s3-endpoint http://user:correct-horse@host:x:y",
                "serve --allow-origin http://user:correct-horse@host",
                "serve --allow-host user:correct-horse@host",
                "archive ls --archive s3://user:correct-horse@bucket",
                "archive ls --archive s3://bucket --s3-endpoint http://user:correct-horse@h^st"
            })
    void rejectsAddressWithSecretWithoutRepeatingIt(String command) throws IOException {
        try (ServedStore served = new ServedStore()) {
            CommandRun run = anywhere(Map.of("CARAVAN_SERVER", served.address()), command.split(" "));
            assertThat(run.exitCode()).isEqualTo(2);
            assertThat(run.out() + run.err()).isNotEmpty().doesNotContain(SECRET);
        }
        anywhere(Map.of("CARAVAN_SERVER", "user:" + SECRET + "@host"), "ls")
                .exits(2, "'(hidden)@host' is not HOST:PORT", "from environment CARAVAN_SERVER");
        anywhere(Map.of("CARAVAN_SERVER", "[user:" + SECRET + "@host]:6380"), "ls")
                .exits(2, "'(hidden)@host]:6380' is not HOST:PORT");
    }

    private static CommandRun anywhere(Map<String, String> environment, String... words) {
        return CommandRun.with(environment, new byte[0]).run(null, words);
    }

    @Test
    void readsServerAddressFromEnvironment() throws IOException {
        try (ServedStore served = new ServedStore()) {
            String everywhere = served.address().replace("127.0.0.1", "0.0.0.0");
            for (Map<String, String> environment : List.of(
                    Map.of("CARAVAN_SERVER", served.address()),
                    Map.of("CARAVAN_RESP", served.address()),
                    Map.of("CARAVAN_RESP", everywhere),
                    Map.of("CARAVAN_SERVER", served.address(), "CARAVAN_RESP", "127.0.0.1:1"),
                    Map.of("CARAVAN_SERVER", "", "CARAVAN_RESP", served.address()))) {
                anywhere(environment, "ls").exits(0);
            }
            list(served.address(), Map.of("CARAVAN_SERVER", "127.0.0.1:1")).exits(0);
        }
        assertFailed(anywhere(Map.of("CARAVAN_RESP", "0.0.0.0:1"), "ls"), "no server listens at 127.0.0.1:1;");
        assertFailed(anywhere(Map.of("CARAVAN_RESP", "[::]:1"), "ls"), " at [::1]:1;");
        anywhere(Map.of("CARAVAN_RESP", "nowhere"), "ls")
                .exits(2, "'nowhere' is not HOST:PORT", "from environment CARAVAN_RESP");
    }

    @Test
    void reportsHttpPortInsteadOfRespPort() throws IOException {
        try (ServedStore served = new ServedStore(config -> config.withHttp(ServedStore.http()))) {
            String http = "127.0.0.1:" + served.httpPort();
            assertFailed(
                    list(http, Map.of()),
                    http + " speaks HTTP, not RESP; set the RESP address, 127.0.0.1:6380 by default");
        }
    }

    @Test
    void reportsUnreachableServerWithStartCommand() {
        int port = FreePorts.next();
        assertFailed(list("127.0.0.1:" + port, Map.of()), "caravan serve --resp 127.0.0.1:" + port);
        assertFailed(list("no.such.host.invalid:1", Map.of()), "the host 'no.such.host.invalid' is not known");
    }

    @Test
    void timesOutIfServerDoesNotReply() throws IOException {
        try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            assertFailed(
                    list("127.0.0.1:" + silent.getLocalPort(), Map.of(), "--timeout", "1"), "has not replied for 1 s");
        }
    }

    @Test
    void tlsRequiresTrustedCertificate() throws Exception {
        X509Bundle mine = certificate("127.0.0.1");
        Path own = Files.writeString(directory.resolve("cert.pem"), mine.getCertificatePathPEM());
        Path key = Files.writeString(directory.resolve("key.pem"), mine.getPrivateKeyPEM());
        Path other = Files.writeString(
                directory.resolve("other.pem"), certificate("127.0.0.1").getCertificatePathPEM());
        Tls tls = new Tls(own, key, null);
        try (ServedStore served = ServedStore.overTls(tls)) {
            list(served.address(), Map.of(), "--tls-ca", own.toString()).succeeds();
            assertFailed(list(served.address(), Map.of(), "--tls-ca", other.toString()), "TLS with");
            assertFailed(list(served.address(), Map.of(), "--tls"), "--tls-ca");
            assertFailed(list(served.address(), Map.of(), "--tls-ca", key.toString()), "--tls-ca " + key);
        }
    }

    @Test
    void rejectsCertificateOfAnotherHost() throws Exception {
        X509Bundle elsewhere = certificate("192.0.2.1");
        Path certificate = Files.writeString(directory.resolve("cert.pem"), elsewhere.getCertificatePathPEM());
        Path key = Files.writeString(directory.resolve("key.pem"), elsewhere.getPrivateKeyPEM());
        Tls tls = new Tls(certificate, key, null);
        try (ServedStore served = ServedStore.overTls(tls)) {
            assertFailed(list(served.address(), Map.of(), "--tls-ca", certificate.toString()), "127.0.0.1");
        }
    }

    @Test
    void httpsRequiresTrustedCertificateOfHost() throws Exception {
        X509Bundle mine = certificate("127.0.0.1");
        Path own = Files.writeString(directory.resolve("cert.pem"), mine.getCertificatePathPEM());
        Path key = Files.writeString(directory.resolve("key.pem"), mine.getPrivateKeyPEM());
        Path other = Files.writeString(
                directory.resolve("other.pem"), certificate("127.0.0.1").getCertificatePathPEM());
        try (ServedStore served = ServedStore.overTls(new Tls(own, key, null))) {
            CommandRun run = support(served, own, "own.zip").exits(0);
            assertThat(run.out()).contains("server/metrics.txt");
            assertThat(support(served, other, "other.zip").out()).contains("not available: server over HTTP");
        }
        X509Bundle elsewhere = certificate("192.0.2.1");
        Files.writeString(own, elsewhere.getCertificatePathPEM());
        Files.writeString(key, elsewhere.getPrivateKeyPEM());
        try (ServedStore served = ServedStore.overTls(new Tls(own, key, null))) {
            assertThat(support(served, own, "elsewhere.zip").out()).contains("not available: server over HTTP");
        }
    }

    /** Runs {@code support} without the option for the HTTP port, because the server reports that port. */
    private CommandRun support(ServedStore served, Path authorities, String out) {
        String line = "support --tls-ca " + authorities + " --out " + directory.resolve(out);
        return CommandRun.of(served, line.split(" "));
    }

    private static X509Bundle certificate(String address) throws Exception {
        return new CertificateBuilder()
                .subject("CN=caravan")
                .addSanIpAddress(address)
                .setIsCertificateAuthority(true)
                .buildSelfSigned();
    }
}
