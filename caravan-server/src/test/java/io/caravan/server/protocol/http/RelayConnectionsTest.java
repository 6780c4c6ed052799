package io.caravan.server.protocol.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.server.cluster.ClusterNode;
import io.caravan.server.cluster.FollowedLeader;
import io.caravan.server.config.HostPort;
import io.caravan.server.net.ConnectionMemory;
import io.caravan.testing.Eventually;
import io.netty.channel.Channel;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests the connections over which a follower relays requests to the leader. */
class RelayConnectionsTest {
    private static final HostPort NOWHERE = new HostPort("127.0.0.1", 1);
    private static final String PATH = "/v1/stream/a";
    private static final String ONE = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\none";
    private static final String NO_CONTENT = "HTTP/1.1 204 No Content\r\n\r\n";

    private FakeLeader leader;
    private FakeLeader next;
    private ClusterNode nextNode;
    private FollowedLeader cluster;
    private HttpFixture follower;

    @BeforeEach
    void start() throws Exception {
        leader = new FakeLeader();
        next = new FakeLeader();
        nextNode = new ClusterNode("c", NOWHERE, NOWHERE, next.address());
        cluster = new FollowedLeader(List.of(
                new ClusterNode("a", NOWHERE, NOWHERE, NOWHERE),
                new ClusterNode("b", NOWHERE, NOWHERE, leader.address()),
                nextNode));
        follower = HttpFixture.following(cluster.cluster());
    }

    @AfterEach
    void stop() throws Exception {
        follower.close();
        leader.close();
        next.close();
    }

    private int append() throws Exception {
        return follower.append(PATH, "text/plain", "one").statusCode();
    }

    @Test
    void sequentialRequestsShareConnection() throws Exception {
        for (int i = 0; i < 20; i++) {
            leader.responses(ONE, NO_CONTENT);
            assertThat(follower.get(PATH).body()).isEqualTo("one");
            assertThat(append()).isEqualTo(204);
        }
        assertThat(leader.requests).hasSize(40);
        assertThat(leader.connections()).isOne();
    }

    @Test
    void connectionIsReusedAfterEveryKindOfResponse() throws Exception {
        leader.responses(
                "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n",
                "HTTP/1.1 304 Not Modified\r\nETag: \"x\"\r\n\r\n",
                "HTTP/1.1 103 Early Hints\r\n\r\n" + NO_CONTENT,
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n3\r\ntwo\r\n0\r\n\r\n",
                "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n",
                ONE);
        assertThat(follower.send("HEAD", PATH, null).statusCode()).isEqualTo(200);
        assertThat(follower.get(PATH).statusCode()).isEqualTo(304);
        assertThat(append()).isEqualTo(204);
        assertThat(follower.get(PATH).body()).isEqualTo("onetwo");
        assertThat(follower.get(PATH).statusCode()).isEqualTo(404);
        assertThat(follower.get(PATH).body()).isEqualTo("one");
        assertThat(leader.connections()).isOne();
    }

    @Test
    void opensNewConnectionAfterCloseResponse() throws Exception {
        leader.responses("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 3\r\n\r\none", ONE);
        assertThat(follower.get(PATH).body()).isEqualTo("one");
        assertThat(follower.get(PATH).body()).isEqualTo("one");
        assertThat(leader.connections()).isEqualTo(2);
    }

    @Test
    void rejectsRepeatedParameterBeforeUsingConnection() throws Exception {
        String repeated = PATH + "?live=sse&offset=-1&live=sse";
        HttpFixture.assertProblem(follower.get(repeated), 400, "repeated_parameter");
        assertThat(leader.connections()).isZero();
        leader.responses(ONE, ONE);
        assertThat(follower.get(PATH).body()).isEqualTo("one");
        HttpFixture.assertProblem(follower.get(repeated), 400, "repeated_parameter");
        assertThat(follower.get(PATH).body()).isEqualTo("one");
        assertThat(leader.connections()).isOne();
    }

    /** The follower must pass the end of a client's input to the leader, which then ends the long poll. */
    @Test
    void passesEndOfInputToLeader() throws Exception {
        leader.responses(FakeLeader.AT_END_OF_INPUT + NO_CONTENT);
        try (RawClient client = follower.raw()) {
            client.send(RawClient.get(PATH + "?live=long-poll&offset=-1"));
            client.finishSending();
            assertThat(client.read().status()).isEqualTo(204);
        }
        assertThat(leader.requests).hasSize(1);
    }

    @Test
    void doesNotReuseConnectionClosedByLeader() throws Exception {
        leader.responses(ONE);
        assertThat(follower.get(PATH).body()).isEqualTo("one");
        leader.closeConnections();
        Eventually.await("the connection has ended", () -> leader.ended() == 1);
        leader.responses(NO_CONTENT);
        assertThat(append()).isEqualTo(204);
        assertThat(leader.requests).containsExactly("GET " + PATH, "POST " + PATH);
        assertThat(leader.connections()).isEqualTo(2);
    }

    @Test
    void retriesReadAfterLostConnection() throws Exception {
        leader.responses(ONE, FakeLeader.CLOSE, ONE);
        assertThat(follower.get(PATH).body()).isEqualTo("one");
        assertThat(follower.get(PATH).body()).isEqualTo("one");
        assertThat(leader.requests).hasSize(3);
        assertThat(leader.connections()).isEqualTo(2);
    }

    @Test
    void doesNotRetryWriteAfterLostConnection() throws Exception {
        leader.responses(ONE, FakeLeader.CLOSE, NO_CONTENT);
        assertThat(follower.get(PATH).body()).isEqualTo("one");
        HttpResponse<String> lost = follower.append(PATH, "text/plain", "one");
        assertThat(lost.statusCode()).isEqualTo(503);
        assertThat(lost.body()).contains("leader_lost", "the change may have been made");
        assertThat(leader.requests).containsExactly("GET " + PATH, "POST " + PATH);
    }

    @Test
    void readWaitsForReplyMemoryAndWriteDoesNot() throws Exception {
        try (Socket other =
                new Socket(InetAddress.getLoopbackAddress(), follower.uri(PATH).getPort())) {
            assertThat(other.isConnected()).isTrue();
            Eventually.await("it is there", () -> follower.network.connections().size() == 1);
            ConnectionMemory memory = follower.network.connections().stream()
                    .map(channel -> channel.pipeline().get(ConnectionMemory.class))
                    .findFirst()
                    .orElseThrow();
            memory.holdReply(HttpFixture.TOTAL_BYTES);
            leader.responses(ONE, NO_CONTENT);
            CompletableFuture<HttpResponse<String>> read = follower.sendAsync("GET", PATH);
            Eventually.await("the leader has it", () -> leader.requests.size() == 1);
            assertThat(append()).isEqualTo(204);
            assertThat(read).isNotDone();
            memory.holdReply(-HttpFixture.TOTAL_BYTES);
            assertThat(read.get().body()).isEqualTo("one");
        }
    }

    @Test
    void newLeaderGetsNewConnection() throws Exception {
        leader.responses(ONE);
        next.responses(NO_CONTENT, ONE);
        assertThat(follower.get(PATH).body()).isEqualTo("one");
        cluster.leads(nextNode);
        assertThat(append()).isEqualTo(204);
        assertThat(follower.get(PATH).body()).isEqualTo("one");
        assertThat(leader.requests).hasSize(1);
        assertThat(next.connections()).isOne();
        // The connection to the old leader must close, because no request uses it anymore.
        Eventually.await("the connection has ended", () -> leader.ended() == 1);
    }

    @Test
    void endsResponseOfFormerLeaderThatKeepsSending() throws Exception {
        leader.responses(FakeLeader.ENDLESS + "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
        try (Socket client =
                new Socket(InetAddress.getLoopbackAddress(), follower.uri(PATH).getPort())) {
            client.getOutputStream().write(RawClient.get(PATH).getBytes(StandardCharsets.US_ASCII));
            assertThat(client.getInputStream().readNBytes(100)).hasSize(100);
            cluster.leads(nextNode);
            client.getInputStream().transferTo(OutputStream.nullOutputStream());
        } catch (SocketException reset) {
            // The follower resets the connection, because the response is not complete.
            assertThat(reset).hasMessageContaining("reset");
        }
        Eventually.await("the connection has ended", () -> leader.ended() == 1);
    }

    /** Tests a write that takes an idle connection from the pool before the event loop has handled its end. */
    @Test
    void retriesWriteThatMeetsConnectionClosedInSameTurn() throws Exception {
        leader.responses(ONE);
        try (RawClient client = follower.raw()) {
            client.send(RawClient.get(PATH));
            assertThat(client.read().status()).isEqualTo(200);
            Channel channel =
                    follower.network.connections().stream().findFirst().orElseThrow();
            CountDownLatch blocked = new CountDownLatch(1);
            CountDownLatch released = new CountDownLatch(1);
            channel.eventLoop().submit(() -> {
                blocked.countDown();
                return released.await(20, TimeUnit.SECONDS);
            });
            blocked.await();
            leader.closeConnections();
            leader.responses(NO_CONTENT);
            client.send("POST " + PATH
                    + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\nContent-Length: 3\r\n\r\none");
            released.countDown();
            assertThat(client.read().status()).isEqualTo(204);
        }
    }
}
