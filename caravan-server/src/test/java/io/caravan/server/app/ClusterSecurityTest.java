package io.caravan.server.app;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.cluster.GroupConfig;
import io.caravan.server.cluster.ClusterNode;
import io.caravan.server.net.NetworkConfig;
import io.caravan.server.net.Tls;
import io.caravan.server.security.Authenticator;
import io.caravan.testing.Eventually;
import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.X509Bundle;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.List;
import java.util.Optional;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests a cluster with TLS for clients and between nodes, and with client authentication. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ClusterSecurityTest {
    /** The name of a document in slot 1043, which belongs to the first group. */
    private static final String NAME = "north";

    @TempDir
    private Path directory;

    @Test
    @Tag("slow")
    void relaysRequestsWithTokenOverTls() throws Exception {
        X509Bundle authority = new CertificateBuilder()
                .subject("CN=authority")
                .setIsCertificateAuthority(true)
                .buildSelfSigned();
        X509Bundle node = new CertificateBuilder()
                .subject("CN=host")
                .addSanIpAddress("127.0.0.1")
                .buildIssuedBy(authority);
        GroupConfig.Tls tls = new GroupConfig.Tls(
                write("key.pem", node.getPrivateKeyPEM()),
                write("certificates.pem", node.getCertificatePathPEM()),
                write("authority.pem", authority.getCertificatePathPEM()));
        SSLContext trust = trusting(authority);
        HttpClient client = HttpClient.newBuilder().sslContext(trust).build();
        try (TestCluster cluster = TestCluster.ofTwoGroups(directory, config -> secured(config, tls), tls, "d")) {
            ClusterNode leader = cluster.awaitLeader();
            ClusterNode follower = cluster.follower();
            ClusterNode ofOtherGroup = cluster.awaitLeader(1);
            Eventually.await(
                    "the other group knows the leader",
                    () -> cluster.view(ofOtherGroup.id()).group(0).leader().equals(Optional.of(leader)));
            for (ClusterNode target : List.of(follower, leader, ofOtherGroup)) {
                assertThat(status(client, target, "PUT", null)).isEqualTo(401);
                assertThat(status(client, target, "PUT", "wrong")).isEqualTo(401);
                assertThat(status(client, target, "PUT", "right")).isIn(200, 201);
                assertThat(status(client, target, "GET", "right")).isEqualTo(200);
                assertThat(pollAndEndInput(trust, target)).isEqualTo("HTTP/1.1 204 No Content");
            }
        }
    }

    private Path write(String name, String pem) throws IOException {
        return Files.writeString(directory.resolve(name), pem);
    }

    private static ServerConfig secured(ServerConfig config, GroupConfig.Tls tls) {
        try {
            NetworkConfig open = config.network();
            return config.withNetwork(new NetworkConfig(
                            open.transport(),
                            open.loops(),
                            open.limits(),
                            new Tls(tls.certificates(), tls.key(), null)))
                    .withAuthenticator(Authenticator.ofPassword("right".getBytes(StandardCharsets.UTF_8)));
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }

    private static SSLContext trusting(X509Bundle authority) throws Exception {
        KeyStore trusted = KeyStore.getInstance(KeyStore.getDefaultType());
        trusted.load(null, null);
        trusted.setCertificateEntry("authority", authority.getCertificate());
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(trusted);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, trust.getTrustManagers(), null);
        return context;
    }

    /** Starts a long poll, shuts down the socket's output, and returns the status line of the response. */
    private static String pollAndEndInput(SSLContext trust, ClusterNode node) throws IOException {
        try (Socket tcp = new Socket(node.http().host(), node.http().port());
                Socket tls = trust.getSocketFactory()
                        .createSocket(tcp, node.http().host(), node.http().port(), false)) {
            String request = "GET /v1/stream/" + NAME + "?live=long-poll&offset=now HTTP/1.1\r\nHost: " + node.http()
                    + "\r\nAuthorization: Bearer right\r\n\r\n";
            tls.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
            tcp.shutdownOutput();
            return new BufferedReader(new InputStreamReader(tls.getInputStream(), StandardCharsets.US_ASCII))
                    .readLine();
        }
    }

    private static int status(HttpClient client, ClusterNode node, String method, String token) throws Exception {
        HttpRequest.Builder request = HttpRequest.newBuilder(
                        URI.create("https://" + node.http() + "/v1/stream/" + NAME))
                .method(method, HttpRequest.BodyPublishers.noBody())
                .header("Content-Type", "text/plain");
        if (token != null) {
            request.header("Authorization", "Bearer " + token);
        }
        return client.send(request.build(), HttpResponse.BodyHandlers.discarding())
                .statusCode();
    }
}
