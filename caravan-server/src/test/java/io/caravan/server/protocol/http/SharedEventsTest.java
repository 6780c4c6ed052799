package io.caravan.server.protocol.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.ListStore;
import io.caravan.catalog.DocumentName;
import io.caravan.server.document.DocumentService;
import io.caravan.server.document.space.DocumentDurability;
import io.caravan.server.security.TestUsers;
import io.caravan.testing.Eventually;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.net.InetSocketAddress;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests that event streams at the same position share their reads, and do not affect each other. */
class SharedEventsTest {
    private static final String STREAM = "/v1/stream/a";
    private static final String TEXT = "text/plain";
    private static final int FOLLOWERS = 10;
    /** More than the sockets and the server hold for a client, each with the maximum size. */
    private static final int LARGE_VALUES = 100;

    /** More than the capacity of the buffers up to the upper water mark of a channel, and of the next events. */
    private static final long MOST_HELD_BYTES = 2 * 1024 * 1024;

    private final CountDownLatch occupied = new CountDownLatch(1);
    private final List<RawClient> followers = new ArrayList<>();

    @AfterEach
    void close() throws Exception {
        occupied.countDown();
        for (RawClient follower : followers) {
            follower.close();
        }
    }

    /** Connects a client that tails the stream, and has received the first event. */
    private void follow(HttpFixture server, String... headers) throws Exception {
        RawClient follower = server.raw();
        followers.add(follower);
        String lines = String.join("\r\n", headers);
        follower.send("GET " + STREAM + "?live=sse&offset=now HTTP/1.1\r\nHost: localhost\r\n" + lines + "\r\n\r\n");
        assertThat(follower.head().status()).isEqualTo(200);
        assertThat(follower.chunk()).contains("upToDate");
    }

    private HttpFixture followed() throws Exception {
        HttpFixture server = HttpFixture.serving();
        server.create(STREAM, TEXT);
        for (int i = 0; i < FOLLOWERS; i++) {
            follow(server);
        }
        return server;
    }

    /**
     * Appends two values while no read can begin. When the second append has been acknowledged, the event loop has
     * passed the first one to all followers.
     */
    private void appendTwoBeforeRead(HttpFixture server, String... headers) throws Exception {
        server.occupyReaders(occupied);
        for (String value : List.of("one", "two")) {
            List<String> all = new ArrayList<>(List.of("Content-Type", TEXT));
            all.addAll(List.of(headers));
            assertThat(server.send("POST", STREAM, value, all.toArray(String[]::new))
                            .statusCode())
                    .isEqualTo(204);
        }
        assertThat(server.readers.getQueue()).as("reads").hasSize(1);
    }

    private static String event(String data, int nextSequence) {
        return "event: data\ndata:" + data + "\n\nevent: control\ndata:{\"streamNextOffset\":\""
                + Offset.of(nextSequence) + "\"";
    }

    @Test
    void followersAtSamePositionShareRead() throws Exception {
        try (HttpFixture server = followed()) {
            long before = server.documents.reads();
            appendTwoBeforeRead(server);
            occupied.countDown();
            for (RawClient follower : followers) {
                assertThat(follower.chunk()).startsWith(event("onetwo", 2));
            }
            assertThat(server.documents.reads()).isEqualTo(before + 1);
            server.append(STREAM, TEXT, "three");
            for (RawClient follower : followers) {
                assertThat(follower.chunk()).startsWith(event("three", 3));
            }
            Eventually.await("nothing is held", () -> server.network.replyBytes() == 0);
        }
    }

    @Test
    void closedFollowerDoesNotEndSharedRead() throws Exception {
        try (HttpFixture server = followed()) {
            appendTwoBeforeRead(server);
            // Each of them could be the one that would read.
            for (int i = 0; i < FOLLOWERS / 2; i++) {
                followers.remove(i).close();
            }
            occupied.countDown();
            for (RawClient follower : followers) {
                assertThat(follower.chunk()).startsWith(event("onetwo", 2));
            }
            Eventually.await("nothing is held", () -> server.network.replyBytes() == 0);
        }
    }

    @Test
    void deletedStreamEndsAllFollowers() throws Exception {
        try (HttpFixture server = followed()) {
            assertThat(server.status("DELETE", STREAM, null)).isEqualTo(204);
            for (RawClient follower : followers) {
                assertThat(follower.chunk()).as("the last chunk").isEmpty();
            }
            server.awaitTailedDocuments(0);
            Eventually.await("nothing is held", () -> server.network.replyBytes() == 0);
        }
    }

    /** Returns the lines that a client with large socket buffers receives, each when it is requested. */
    private static Iterator<String> lines(HttpFixture server) throws Exception {
        HttpRequest request = server.request(
                        "GET", STREAM + "?live=sse&offset=now", HttpRequest.BodyPublishers.noBody())
                .build();
        return HttpClient.newHttpClient()
                .send(request, HttpResponse.BodyHandlers.ofLines())
                .body()
                .filter(line -> line.startsWith("data:v"))
                .iterator();
    }

    @Test
    void slowFollowerDelaysNoOtherAndReceivesAllValues() throws Exception {
        try (HttpFixture server = HttpFixture.serving()) {
            server.create(STREAM, TEXT);
            Iterator<String> slow = lines(server);
            Iterator<String> fast = lines(server);
            server.awaitTailedDocuments(1);
            StringBuilder expected = new StringBuilder();
            for (int i = 0; i < LARGE_VALUES; i++) {
                String value = "v" + Character.toString('a' + i % 26).repeat(HttpFixture.MAX_BODY_BYTES - 1);
                expected.append(value);
                server.append(STREAM, TEXT, value);
                assertThat(fast.next()).isEqualTo("data:" + value);
            }
            assertThat(server.network.replyBytes()).isBetween((long) HttpFixture.MAX_BODY_BYTES, MOST_HELD_BYTES);
            StringBuilder received = new StringBuilder();
            while (received.length() < expected.length()) {
                received.append(slow.next().substring("data:".length()));
            }
            assertThat(received).hasToString(expected.toString());
            Eventually.await("nothing is held", () -> server.network.replyBytes() == 0);
        }
    }

    @Test
    void revokedFollowerReceivesNothingThatOthersRead() throws Exception {
        String removed = "removed.secret = reads-until-removed\nremoved.permissions = read\n";
        TestUsers users = new TestUsers(removed + "kept.secret = reads-and-writes\nkept.permissions = read, write\n");
        String kept = "Bearer reads-and-writes";
        try (HttpFixture server = HttpFixture.guarded(users.authenticator)) {
            assertThat(server.status("PUT", STREAM, null, "Content-Type", TEXT, "Authorization", kept))
                    .isEqualTo(201);
            follow(server, "Authorization: Bearer reads-until-removed");
            follow(server, "Authorization: " + kept);
            appendTwoBeforeRead(server, "Authorization", kept);
            users.replace(removed, "");
            occupied.countDown();
            assertThat(followers.get(1).chunk()).startsWith(event("onetwo", 2));
            assertThat(followers.get(0).rest()).doesNotContain("one");
        }
    }

    @Test
    void joinsOnlyUntilReadBeginsAndErrorEndsOnlyItsTurn() {
        Queue<Runnable> tasks = new ArrayDeque<>();
        HttpConfig config = HttpConfig.of(new InetSocketAddress(0), 1, 1 << 20);
        HttpProtocol protocol = HttpExchangeTest.protocol(config, tasks::add);
        try (ListStore store = ListStore.inMemory();
                DocumentService documents =
                        new DocumentService(store, DocumentService.catalogOf(store), DocumentDurability.SYNC)) {
            DocumentName name = DocumentName.of("a");
            EventStream.SharedRead.Position position = new EventStream.SharedRead.Position(documents, name, 1, 0, null);
            EventStream.SharedRead.Position same = new EventStream.SharedRead.Position(documents, name, 1, 0, null);
            List<Integer> done = new ArrayList<>();
            EventStream.SharedRead shared = EventStream.SharedRead.join(position, protocol, any -> {}, () -> {
                throw new AssertionError("first");
            });
            assertThat(EventStream.SharedRead.join(same, protocol, any -> {}, () -> done.add(2)))
                    .isSameAs(shared);
            assertThat(tasks).hasSize(1);
            tasks.remove().run();
            assertThat(done).containsExactly(2);
            assertThat(EventStream.SharedRead.join(same, protocol, any -> {}, () -> done.add(3)))
                    .isNotSameAs(shared);
            assertThat(done).containsExactly(2);
        }
    }

    /** Checks that all clients together count a buffer once, because it is in memory once. */
    @Test
    void clientsShareTheMemoryOfEvents() {
        ByteBuf bytes = Unpooled.buffer(1000);
        EventStream.Events events = new EventStream.Events(bytes, bytes.capacity(), 1, false, false);
        EventStream.Events shared = events.share(4);
        assertThat(shared.heldBytes()).isEqualTo(250);
        assertThat(shared.bytes().release()).isFalse();
        assertThat(bytes.release()).isTrue();
    }
}
