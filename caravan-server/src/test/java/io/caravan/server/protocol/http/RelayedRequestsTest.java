package io.caravan.server.protocol.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.server.cluster.Cluster;
import io.caravan.server.cluster.ClusterFile;
import io.caravan.server.cluster.ClusterNode;
import io.caravan.server.cluster.SlotRange;
import io.caravan.server.config.HostPort;
import java.time.InstantSource;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Tests a node's responses to relayed requests, which differ from its responses to clients. */
class RelayedRequestsTest {
    private static final String RELAYED = "Caravan-Relayed";
    private static final HostPort NOWHERE = new HostPort("127.0.0.1", 1);

    private static Cluster cluster() {
        List<ClusterNode> nodes = Stream.of("a", "b", "c")
                .map(id -> new ClusterNode(id, NOWHERE, NOWHERE, NOWHERE))
                .toList();
        return new Cluster(
                ClusterFile.of(UUID.randomUUID(), Map.of(SlotRange.ALL, nodes)),
                "a",
                null,
                false,
                InstantSource.system());
    }

    /** Sends an append over a separate connection, as another node would. */
    private static RawClient.Response append(HttpFixture fixture, String header) throws Exception {
        return fixture.ask("POST /v1/stream/a HTTP/1.1\r\nHost: localhost\r\n" + header
                + "Content-Type: application/octet-stream\r\nContent-Length: 3\r\n\r\none");
    }

    /** A draining node must reject relayed requests as a non-leader does, so that they wait for another leader. */
    @Test
    void drainingNodeRejectsRelayedRequestAsNonLeader() throws Exception {
        try (HttpFixture fixture = HttpFixture.leading(cluster())) {
            fixture.create("/v1/stream/a", "application/octet-stream");
            assertThat(append(fixture, RELAYED + ": b\r\n").status()).isEqualTo(204);
            fixture.server.drain();
            RawClient.Response rejection = append(fixture, RELAYED + ": b\r\n");
            assertThat(rejection.status()).isEqualTo(503);
            assertThat(rejection.headers()).containsEntry(RELAYED.toLowerCase(Locale.ROOT), "refused");
            RawClient.Response toClient = append(fixture, "");
            assertThat(toClient.status()).isEqualTo(503);
            assertThat(toClient.body()).contains("draining");
            assertThat(toClient.headers()).doesNotContainKey(RELAYED.toLowerCase(Locale.ROOT));
        }
    }
}
