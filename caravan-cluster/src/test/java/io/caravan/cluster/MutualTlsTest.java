package io.caravan.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.caravan.testing.Eventually;
import io.caravan.testing.LongTimeout;
import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.X509Bundle;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Tests of nodes that authenticate each other with TLS certificates. */
@LongTimeout
@Execution(ExecutionMode.CONCURRENT)
final class MutualTlsTest {
    @TempDir
    Path directory;

    @Test
    void excludesNodeWithCertificateOfOtherAuthority() throws Exception {
        GroupConfig.Tls ours = certificate("ours");
        GroupConfig.Tls foreign = certificate("foreign");
        try (Group group = new Group(directory, node -> node.equals("c") ? foreign : ours)) {
            group.create("a", "b", "c");
            for (int i = 0; i < 20; i++) {
                group.append(1, "value " + i);
            }
            assertThat(group.awaitLeader()).isNotEqualTo("c");
            assertThat(group.member("a").leader()).isPresent();
            assertThat(group.member("c").leader()).isEmpty();
            assertThat(group.member("c").appliedIndex()).isNegative();
        }
    }

    @Test
    @Tag("slow")
    void servesOnlyNodesWithCertificateOfSameAuthority() throws Exception {
        GroupConfig.Tls ours = certificate("ours");
        GroupConfig.Tls foreign = certificate("foreign");
        try (Group group = new Group(directory, node -> node.equals("d") ? foreign : ours).create()) {
            group.append(1, "value");
            GroupConfig config = group.config("a", GroupConfig.Start.AGAIN);
            for (Node node : config.nodes()) {
                Eventually.await(
                        "a node names the leader",
                        () -> reply(config, ours, node)
                                .filter(reply -> reply.leader() != null)
                                .filter(reply -> Set.copyOf(reply.nodes()).equals(Set.copyOf(config.nodes())))
                                .isPresent());
            }
            assertThat(reply(config, foreign, config.selfNode()))
                    .as("to a stranger")
                    .isEmpty();
            assertThat(reply(config, null, config.selfNode())).as("without TLS").isEmpty();

            assertThatExceptionOfType(IOException.class)
                    .as("no node responds to a stranger")
                    .isThrownBy(() -> group.join("d"))
                    .withMessageContaining(" responds: node ");
            group.appendUntilLogIsPurged(1);
            GroupMembershipTest.add(group, group.join("e"));
            group.awaitAllAlike();
            assertThat(group.member("e").nodes()).extracting(Node::id).containsExactlyInAnyOrder("a", "b", "c", "e");
        }
    }

    private static Optional<LeaderLookup.Reply> reply(
            GroupConfig group, GroupConfig.@Nullable Tls clientTls, Node queried) {
        try (LeaderLookup lookup = new LeaderLookup(group.group(), clientTls, Duration.ofSeconds(3))) {
            return lookup.query(queried);
        }
    }

    /** Creates a certificate for a node, and a certificate authority that signs the certificate. */
    private GroupConfig.Tls certificate(String name) throws Exception {
        X509Bundle authority = new CertificateBuilder()
                .subject("CN=" + name)
                .setIsCertificateAuthority(true)
                .buildSelfSigned();
        X509Bundle node = new CertificateBuilder()
                .subject("CN=node")
                .addSanIpAddress("127.0.0.1")
                .buildIssuedBy(authority);
        return new GroupConfig.Tls(
                write(name + "-key.pem", node.getPrivateKeyPEM()),
                write(name + "-certificates.pem", node.getCertificatePathPEM()),
                write(name + "-authority.pem", authority.getCertificatePathPEM()));
    }

    private Path write(String name, String pem) throws IOException {
        return Files.writeString(directory.resolve(name), pem);
    }
}
