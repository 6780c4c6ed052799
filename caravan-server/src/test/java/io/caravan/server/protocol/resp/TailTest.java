package io.caravan.server.protocol.resp;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.ListInfo;
import io.caravan.ListStore;
import io.caravan.catalog.DocumentName;
import io.caravan.server.app.ServerFixture;
import io.caravan.server.app.TestDocuments;
import io.caravan.server.document.EditedDocument;
import io.caravan.server.document.Outcome;
import io.caravan.server.security.Authenticator;
import io.caravan.testing.Eventually;
import io.caravan.testing.ForwardingListStore;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the waits of {@code CARAVAN.READ} with {@code BLOCK}, which occupy no thread, and the events that end them. */
class TailTest extends RespTestBase {
    private static final String LONG = "600000";

    /** Waits until clients are waiting for changes to {@code documents} documents. */
    private void awaitTails(int documents) {
        Eventually.await(documents + " are waited for", () -> fixture.documents.tailedDocuments() == documents);
    }

    private RespClient tail(String name, String from) throws IOException {
        RespClient tail = fixture.connect();
        tail.send("CARAVAN.READ", name, "FROM", from, "BLOCK", LONG);
        awaitTails(1);
        return tail;
    }

    @Test
    void waitEndsOnAppend() throws IOException {
        try (RespClient tail = tail("k", "0")) {
            client.call("RPUSH", "k", "a", "b");
            assertThat(tail.read()).isEqualTo("[:2, [[:0, $a], [:1, $b]], :0, :1]");
            awaitTails(0);
            tail.send("CARAVAN.READ", "k", "FROM", "$", "BLOCK", LONG);
            awaitTails(1);
            client.call("LTRIM", "k", "1", "-1");
            client.call("RPUSH", "k", "c");
            assertThat(tail.read()).isEqualTo("[:3, [[:2, $c]], :0, :1]");
        }
    }

    @Test
    void returnsExistingValuesOrNoneAfterTimeout() throws IOException {
        client.call("RPUSH", "k", "a");
        replies("[:1, [[:0, $a]], :0, :1]", "CARAVAN.READ", "k", "FROM", "0", "BLOCK", LONG);
        long start = System.nanoTime();
        replies("[:1, [], :0, :1]", "CARAVAN.READ", "k", "FROM", "1", "BLOCK", "50");
        assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(TimeUnit.MILLISECONDS.toNanos(50));
        awaitTails(0);
    }

    /** A read over HTTP does the same. */
    @ParameterizedTest
    @ValueSource(strings = {"0", "1"})
    void readWithoutValuesExtendsSlidingExpiry(String blockMillis) throws IOException {
        client.call("CARAVAN.IMPORT", "k", "WHOLE", "0", "ATTRIBUTE", "ttl", "60", "VALUES", "a");
        fixture.aheadMillis.addAndGet(50_000);
        replies("[:1, [], :0, :1]", "CARAVAN.READ", "k", "FROM", "1", "BLOCK", blockMillis);
        fixture.aheadMillis.addAndGet(50_000);
        replies(":1", "LLEN", "k");
    }

    @Test
    void waitReturnsOnlyDurableValues() throws Exception {
        try (RespClient tail = tail("k", "0")) {
            fixture.store.hold();
            client.send("RPUSH", "k", "a");
            fixture.store.awaitAccepted(1);
            try (RespClient other = fixture.connect()) {
                assertThat(other.call("PING")).isEqualTo("+PONG");
            }
            assertThat(tail.hasInput()).isFalse();
            fixture.store.release();
            assertThat(tail.read()).isEqualTo("[:1, [[:0, $a]], :0, :1]");
        }
    }

    @Test
    void waitEndsWhenDocumentIsClosedOrDeleted() throws IOException {
        client.call("RPUSH", "k", "a");
        try (RespClient tail = tail("k", "1")) {
            TestDocuments.close(fixture.documents, "k");
            assertThat(tail.read()).isEqualTo("[:1, [], :1, :1]");
            client.call("RPUSH", "d", "a");
            tail.send("CARAVAN.READ", "d", "FROM", "1", "BLOCK", LONG);
            awaitTails(1);
            client.call("DEL", "d");
            assertThat(tail.read()).startsWith("-OUTOFRANGE sequence 1 is after the next one, 0");
        }
    }

    /** Checks the deletion of a closed document before and after a read has chosen the values. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void concurrentlyDeletedDocumentHasNoId(int lookups) throws IOException {
        AtomicInteger left = new AtomicInteger(-1);
        AtomicReference<Runnable> concurrentWrite = new AtomicReference<>(() -> {});
        ListStore store = new ForwardingListStore(ListStore.inMemory()) {
            @Override
            public ListInfo info(long id) {
                ListInfo info = super.info(id);
                if (left.decrementAndGet() == 0) {
                    concurrentWrite.get().run();
                }
                return info;
            }
        };
        try (RespFixture racing = new RespFixture(
                        store, Authenticator.open(), ServerFixture.MAX_REQUEST_BYTES, Duration.ofSeconds(30));
                RespClient reader = racing.connect()) {
            reader.call("RPUSH", "k", "a");
            TestDocuments.close(racing.documents, "k");
            concurrentWrite.set(() -> Outcome.<Boolean>await(
                    outcome -> racing.documents.write(DocumentName.of("k"), EditedDocument::delete, outcome)));
            left.set(lookups);
            assertThat(reader.call("CARAVAN.READ", "k", "FROM", "0")).isEqualTo("[:0, [], :0, null]");
        }
    }

    @Test
    void manyWaitsDoNotBlockOtherClients() throws IOException {
        List<RespClient> tails = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            RespClient tail = fixture.connect();
            tails.add(tail);
            tail.send("CARAVAN.READ", "k" + i, "FROM", "0", "BLOCK", LONG);
            tail.send("LLEN", "k" + i);
            tail.send("PING");
        }
        awaitTails(50);
        replies(":0", "LLEN", "k0");
        for (int i = 0; i < 50; i++) {
            client.call("RPUSH", "k" + i, "v");
        }
        for (RespClient tail : tails) {
            assertThat(tail.read()).startsWith("[:1, [[:0, $v]], :0, :");
            tail.reads(":1", "+PONG");
            tail.close();
        }
    }

    @Test
    void waitEndsWhenClientDisconnects() throws IOException {
        tail("k", "0").close();
        awaitTails(0);
    }

    @Test
    void waitEndsWhenClientHalfCloses() throws IOException {
        try (RespClient tail = tail("k", "0")) {
            tail.finishSending();
            assertThat(tail.read()).isEqualTo("[:0, [], :0, null]");
            assertThat(tail.atEnd()).isTrue();
        }
    }

    @Test
    void waitEndsWhenServerStops() throws IOException {
        try (RespClient tail = tail("k", "0")) {
            fixture.network.drain(Duration.ofSeconds(20));
            assertThat(tail.read()).isEqualTo("[:0, [], :0, null]");
            assertThat(tail.atEnd()).isTrue();
        }
    }

    /** A tail must return each value exactly once for any interleaving of reads and appends. */
    @Test
    void tailReturnsEachValueOnce() throws IOException {
        int values = 2_000;
        for (int i = 0; i < values; i++) {
            client.send("RPUSH", "k", "v" + i);
        }
        try (RespClient tail = fixture.connect()) {
            long from = 0;
            StringBuilder received = new StringBuilder();
            StringBuilder expected = new StringBuilder();
            for (int i = 0; i < values; i++) {
                expected.append("[:").append(i).append(", $v").append(i).append(']');
            }
            while (from < values) {
                String reply = tail.call("CARAVAN.READ", "k", "FROM", Long.toString(from), "COUNT", "7", "BLOCK", LONG);
                from = Long.parseLong(reply.substring(2, reply.indexOf(',')));
                String entries = reply.substring(reply.indexOf('[', 1) + 1, reply.lastIndexOf("], :0, :1]"));
                received.append(entries.replace("], [", "]["));
            }
            assertThat(received.toString()).isEqualTo(expected.toString());
        }
        client.readsNumbers(1, values);
    }

    @Test
    void returnsAllValuesOfLargeRead() throws IOException {
        String value = "v".repeat(1_000_000);
        for (int i = 0; i < 20; i++) {
            client.call("RPUSH", "k", value);
        }
        String reply = client.call("CARAVAN.READ", "k", "FROM", "0");
        assertThat(reply)
                .startsWith("[:20, [[:0, $vvv")
                .endsWith("v]], :0, :1]")
                .hasSizeGreaterThan(20_000_000);
        assertThat(reply.getBytes(UTF_8)).hasSize(reply.length());
    }
}
