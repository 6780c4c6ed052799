package io.caravan.server.protocol.resp;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.caravan.ListStore;
import io.caravan.server.app.ServerFixture;
import io.caravan.server.net.NetworkConfig;
import io.caravan.server.net.NetworkLimits;
import io.caravan.server.net.PemPair;
import io.caravan.server.net.TestLimits;
import io.caravan.server.net.Tls;
import io.caravan.testing.Eventually;
import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.X509Bundle;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.List;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests RESP over TLS with the JDK's TLS client. */
class TlsTest {
    private static final int TIMEOUT_MILLIS = 20_000;

    @TempDir
    private Path directory;

    private X509Bundle first;
    private X509Bundle second;

    @BeforeEach
    void makeCertificates() throws Exception {
        first = selfSigned(CertificateBuilder.Algorithm.ecp256, "first");
        second = selfSigned(CertificateBuilder.Algorithm.ecp256, "second");
        write(first);
    }

    private static X509Bundle selfSigned(CertificateBuilder.Algorithm algorithm, String name) throws Exception {
        return new CertificateBuilder()
                .algorithm(algorithm)
                .subject("CN=" + name)
                .setIsCertificateAuthority(true)
                .buildSelfSigned();
    }

    private void write(X509Bundle bundle) throws IOException {
        Files.writeString(certificate(), bundle.getCertificatePathPEM());
        Files.writeString(key(), bundle.getPrivateKeyPEM());
    }

    private Path certificate() {
        return directory.resolve("cert.pem");
    }

    private Path key() {
        return directory.resolve("key.pem");
    }

    private static ServerFixture server(Tls tls, int maxConnections) throws IOException {
        NetworkConfig defaults = NetworkConfig.defaults();
        NetworkLimits limits = TestLimits.of(maxConnections, 16 << 20, 64 << 20, Duration.ofMinutes(1), Duration.ZERO);
        return new ServerFixture(
                ListStore.inMemory(),
                config -> config.withNetwork(new NetworkConfig(defaults.transport(), 1, limits, tls)));
    }

    /** Connects a client that trusts one certificate and presents its own certificate, if it has one. */
    private static SSLSocket connect(ServerFixture fixture, X509Bundle trusted, @Nullable X509Bundle own)
            throws IOException, GeneralSecurityException {
        KeyStore trust = KeyStore.getInstance("PKCS12");
        trust.load(null, null);
        trust.setCertificateEntry("server", trusted.getCertificate());
        TrustManagerFactory trustManagers = TrustManagerFactory.getInstance("PKIX");
        trustManagers.init(trust);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(own == null ? null : keyManagers(own).getKeyManagers(), trustManagers.getTrustManagers(), null);
        SSLSocket socket = (SSLSocket) context.getSocketFactory()
                .createSocket(
                        fixture.server.respAddress().getAddress(),
                        fixture.server.respAddress().getPort());
        socket.setSoTimeout(TIMEOUT_MILLIS);
        return socket;
    }

    private static KeyManagerFactory keyManagers(X509Bundle own) throws IOException, GeneralSecurityException {
        KeyStore keys = KeyStore.getInstance("PKCS12");
        keys.load(null, null);
        keys.setKeyEntry("own", own.getKeyPair().getPrivate(), new char[0], own.getCertificatePath());
        KeyManagerFactory factory = KeyManagerFactory.getInstance("PKIX");
        factory.init(keys, new char[0]);
        return factory;
    }

    private static void assertPong(SSLSocket socket) throws IOException {
        OutputStream out = socket.getOutputStream();
        out.write("PING\r\n".getBytes(US_ASCII));
        InputStream in = socket.getInputStream();
        assertThat(new String(in.readNBytes("+PONG\r\n".length()), US_ASCII)).isEqualTo("+PONG\r\n");
    }

    @Test
    void unfinishedHandshakeDoesNotDelayStop() throws Exception {
        ServerFixture fixture = server(new Tls(certificate(), key(), null), 10);
        try (Socket silent = new Socket(
                fixture.server.respAddress().getAddress(),
                fixture.server.respAddress().getPort())) {
            Eventually.await(
                    "it is there", () -> fixture.server.network().connections().size() == 1);
            // A stop that waited for this client would take an hour.
            fixture.server.stop(Duration.ofHours(1), Duration.ofHours(1));
            assertThat(silent.getInputStream().read()).isNegative();
            fixture.close();
        }
    }

    @Test
    void sendsClosureAlertAfterProtocolError() throws Exception {
        try (ServerFixture fixture = server(new Tls(certificate(), key(), null), 10);
                SSLSocket socket = connect(fixture, first, null)) {
            assertPong(socket);
            socket.getOutputStream().write("*1\r\n$-5\r\n".getBytes(US_ASCII));
            // Throws if the server closes the connection without a TLS closure alert.
            assertThat(new String(socket.getInputStream().readAllBytes(), US_ASCII))
                    .isEqualTo("-ERR Protocol error: invalid bulk length\r\n");
        }
    }

    @Test
    void rejectsPlaintextClient() throws Exception {
        try (ServerFixture fixture = server(new Tls(certificate(), key(), null), 10);
                RespClient plain = fixture.connect()) {
            plain.send("PING");
            assertThatThrownBy(plain::read).isInstanceOf(IOException.class);
        }
    }

    @Test
    void reportsConnectionLimitOverTls() throws Exception {
        try (ServerFixture fixture = server(new Tls(certificate(), key(), null), 1);
                SSLSocket socket = connect(fixture, first, null)) {
            assertPong(socket);
            try (SSLSocket tooMany = connect(fixture, first, null)) {
                assertThat(new String(tooMany.getInputStream().readAllBytes(), US_ASCII))
                        .isEqualTo("-ERR max number of clients reached\r\n");
            }
        }
    }

    @Test
    void reloadedCertificateAppliesToNewConnectionsOnly() throws Exception {
        Tls tls = new Tls(certificate(), key(), null);
        try (ServerFixture fixture = server(tls, 10);
                SSLSocket old = connect(fixture, first, null)) {
            assertPong(old);
            write(second);
            tls.reload();
            try (SSLSocket fresh = connect(fixture, second, null)) {
                assertPong(fresh);
                X509Certificate shown = (X509Certificate) fresh.getSession().getPeerCertificates()[0];
                assertThat(shown.getSubjectX500Principal().getName()).isEqualTo("CN=second");
            }
            assertPong(old);
        }
    }

    @Test
    void reloadRejectsInvalidKeyAndKeepsOldPair() throws Exception {
        Tls tls = new Tls(certificate(), key(), null);
        Files.writeString(key(), "nonsense");
        assertThatThrownBy(tls::reload)
                .isInstanceOf(IOException.class)
                .hasMessageContaining("the key in " + key() + " cannot be used");
        try (ServerFixture fixture = server(tls, 10);
                SSLSocket socket = connect(fixture, first, null)) {
            assertPong(socket);
        }
    }

    /** A reload between two steps of a renewal must reject mismatched files, even if each is valid by itself. */
    @Test
    void reloadRejectsMismatchedPairAndKeepsOldPair() throws Exception {
        Tls tls = new Tls(certificate(), key(), null);
        Files.writeString(certificate(), second.getCertificatePathPEM());
        assertThatThrownBy(tls::reload)
                .isInstanceOf(IOException.class)
                .hasMessageContaining("the certificate in " + certificate() + " and the key in " + key())
                .hasMessageContaining("the key is that of another certificate");
        try (ServerFixture fixture = server(tls, 10);
                SSLSocket socket = connect(fixture, first, null)) {
            assertPong(socket);
        }
        assertThatThrownBy(() -> new Tls(certificate(), key(), null))
                .as("nor does a server start with them")
                .isInstanceOf(IOException.class)
                .hasMessageContaining("the key is that of another certificate");
        write(second);
        tls.reload();
        try (ServerFixture fixture = server(tls, 10);
                SSLSocket socket = connect(fixture, second, null)) {
            assertPong(socket);
        }
    }

    @Test
    void acceptsOnlyMatchingPairsOfEachAlgorithm() throws Exception {
        for (CertificateBuilder.Algorithm algorithm : List.of(
                CertificateBuilder.Algorithm.rsa2048,
                CertificateBuilder.Algorithm.ecp256,
                CertificateBuilder.Algorithm.ed25519)) {
            X509Bundle one = selfSigned(algorithm, "other");
            X509Bundle other = selfSigned(algorithm, "other");
            write(one);
            PemPair.read(certificate(), key());
            Files.writeString(key(), other.getPrivateKeyPEM());
            assertThatThrownBy(() -> PemPair.read(certificate(), key()))
                    .as(algorithm.name())
                    .hasMessageContaining("the key is that of another certificate");
        }
        write(selfSigned(CertificateBuilder.Algorithm.ecp256, "other"));
        Files.writeString(
                key(), selfSigned(CertificateBuilder.Algorithm.ed25519, "other").getPrivateKeyPEM());
        assertThatThrownBy(() -> PemPair.read(certificate(), key()))
                .as("of another kind")
                .isInstanceOf(IOException.class);
    }

    @Test
    void reportsMissingFile() {
        Path absent = directory.resolve("absent");
        assertThatThrownBy(() -> new Tls(absent, key(), null))
                .hasMessageContaining("cannot read " + absent + ", which TLS needs");
    }

    @Test
    void requiresClientCertificateIfAuthorityIsConfigured() throws Exception {
        Path authority = Files.writeString(directory.resolve("ca.pem"), second.getCertificatePEM());
        try (ServerFixture fixture = server(new Tls(certificate(), key(), authority), 10)) {
            try (SSLSocket known = connect(fixture, first, second)) {
                assertPong(known);
            }
            try (SSLSocket unknown = connect(fixture, first, null)) {
                assertThatThrownBy(() -> assertPong(unknown)).isInstanceOf(IOException.class);
            }
        }
    }
}
