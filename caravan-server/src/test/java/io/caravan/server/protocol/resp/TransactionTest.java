package io.caravan.server.protocol.resp;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.EntryStream;
import io.caravan.ListStore;
import io.caravan.StoreConfig;
import io.caravan.WriteBatch;
import io.caravan.WriteCallback;
import io.caravan.catalog.DocumentName;
import io.caravan.server.app.IgnoredOutcome;
import io.caravan.server.app.ServerFixture;
import io.caravan.server.app.TestDocuments;
import io.caravan.server.document.DocumentAttributes;
import io.caravan.server.security.Authenticator;
import io.caravan.testing.ForwardingListStore;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class TransactionTest extends RespTestBase {
    private static final int MAX_BYTES = 2 << 20;

    @Override
    RespFixture newFixture() throws IOException {
        return new RespFixture(store, Authenticator.open(), MAX_BYTES, Duration.ofSeconds(30));
    }

    private final BetweenReads store = new BetweenReads();

    /** A store that runs an action after the next read, and records the thread that makes the last write. */
    private static final class BetweenReads extends ForwardingListStore {
        private volatile @Nullable Runnable once;
        private volatile @Nullable String writer;

        BetweenReads() {
            super(ListStore.inMemory());
        }

        @Override
        public void write(WriteBatch batch, WriteCallback callback) {
            writer = Thread.currentThread().getName();
            super.write(batch, callback);
        }

        @Override
        public void get(long id, long fromSequence, EntryStream stream) {
            super.get(id, fromSequence, stream);
            Runnable action = once;
            if (action != null) {
                once = null;
                action.run();
            }
        }
    }

    private void queue(String... words) throws IOException {
        replies("+QUEUED", words);
    }

    /** Queues commands, which are separated by commas in the argument. */
    private void queueAll(String commands) throws IOException {
        for (String command : commands.split(",\\s+")) {
            queue(command.split(" "));
        }
    }

    @Test
    void deletesFork() throws IOException {
        client.call("RPUSH", "source", "a", "b");
        TestDocuments.fork(fixture.documents, "source", "fork", 2);
        replies("+OK", "MULTI");
        queue("DEL", "fork");
        replies("[:1]", "EXEC");
        replies("+OK", "LTRIM", "source", "1", "-1");
    }

    @Test
    void readsSeeEarlierWrites() throws IOException {
        client.call("RPUSH", "k", "a", "b");
        replies("+OK", "MULTI");
        queueAll("""
            LRANGE k 0 -1, RPUSH k c, LRANGE k 1 -1, LINDEX k -1, LINDEX k 9, LPOP k, LPOP k 2, LPOP k 2, LLEN k,
            EXISTS k other k, RPUSH k d, EXPIRE k 100, TYPE k, TTL k, EXISTS k other k, DEL k, LRANGE k 0 -1,
            TYPE k, RPUSH k new, LRANGE k 0 -1\
            """);
        replies(
                "[[$a, $b], :3, [$b, $c], $c, null, $a, [$b, $c], nullarray, :0, :0, :1, :1, +list, :100, :2, :1, [],"
                        + " +none, :1, [$new]]",
                "EXEC");
        replies("[$new]", "LRANGE", "k", "0", "-1");
    }

    /** One command may read a value of any length, but the reply contains the values of all commands. */
    @Test
    void singleValuesOverReplyLimitAreRejected() throws IOException {
        String value = "v".repeat(ServerFixture.MAX_WORD_BYTES);
        client.call("RPUSH", "stored", value);
        for (String name : List.of("stored", "appended")) {
            replies("+OK", "MULTI");
            queue("RPUSH", "appended", value);
            queue("LINDEX", name, "0");
            queue("LINDEX", name, "0");
            fails("ERR the values of the reply take more than 2097152 bytes", "EXEC");
        }
        replies(":0", "LLEN", "appended");
    }

    /** A transaction's reply must include values appended during its read, because the transaction deletes them. */
    @Test
    void isIsolatedFromConcurrentWrites() throws IOException {
        client.call("RPUSH", "k", "a", "b");
        client.call("MULTI");
        queue("LRANGE", "k", "0", "-1");
        queue("DEL", "k");
        store.once = () -> fixture.documents.write(
                DocumentName.of("k"),
                document -> document.append(List.of("late".getBytes(StandardCharsets.UTF_8))),
                new IgnoredOutcome<>());
        replies("[[$a, $b, $late], :1]", "EXEC");
        replies(":0", "LLEN", "k");
    }

    @Test
    void executesReadOnlyTransaction() throws IOException {
        client.call("RPUSH", "k", "a", "b");
        client.call("MULTI");
        queue("LLEN", "k");
        queue("LRANGE", "k", "0", "0");
        queue("LINDEX", "absent", "0");
        replies("[:2, [$a], null]", "EXEC");
    }

    @Test
    void rejectsTransactionOverReplyLimit() throws IOException {
        String value = "v".repeat(MAX_BYTES / 3);
        for (int i = 0; i < 3; i++) {
            client.call("RPUSH", "k", value);
        }
        for (String[] reads : new String[][] {{"0", "-1"}, {"0", "1"}}) {
            client.call("MULTI");
            queue("LRANGE", "k", reads[0], reads[1]);
            queue("LRANGE", "k", reads[0], reads[1]);
            queue("DEL", "k");
            fails("ERR the values of the reply take more than 2097152 bytes", "EXEC");
            replies(":3", "LLEN", "k");
        }
        client.call("MULTI");
        queue("LINDEX", "k", "1");
        queue("DEL", "k");
        replies("[$" + value + ", :1]", "EXEC");
    }

    @Test
    void longJsonKeepsOrderAndErrorNamesCommand() throws IOException {
        TestDocuments.create(fixture.documents, "j", DocumentAttributes.NONE.withContentType("application/json"));
        String text = "[" + "1,".repeat(20_000) + "1]";
        client.send("RPUSH", "j", text);
        client.send("RPUSH", "j", "2");
        client.send("LLEN", "j");
        client.reads(":1", ":2", ":2");
        client.call("MULTI");
        queue("RPUSH", "j", text);
        queue("RPUSH", "j", text.substring(1));
        queue("LTRIM", "j", "0", "0");
        assertThat(client.call("EXEC"))
                .startsWith("-ERR ")
                .contains("accepts only JSON", "(command 2 of the transaction, RPUSH; nothing has been changed)");
        replies(":2", "LLEN", "j");
    }

    /** The event loop must parse only short JSON. The thread that parses the JSON must also make the write. */
    @Test
    void parsesOnlyShortJsonOnEventLoop() throws IOException {
        String loop = "caravan-loop";
        TestDocuments.create(fixture.documents, "j", DocumentAttributes.NONE.withContentType("application/json"));
        String text = "[" + "1,".repeat(20_000) + "1]";
        replies(":1", "RPUSH", "j", "1");
        assertThat(store.writer).startsWith(loop);
        replies(":2", "RPUSH", "j", text);
        assertThat(store.writer).doesNotStartWith(loop);
        client.call("MULTI");
        queue("RPUSH", "j", "1");
        replies("[:3]", "EXEC");
        assertThat(store.writer).startsWith(loop);
        client.call("MULTI");
        queue("RPUSH", "j", text);
        replies("[:4]", "EXEC");
        assertThat(store.writer).doesNotStartWith(loop);
    }

    @Test
    void execMakesOneStoreWrite() throws Exception {
        client.call("RPUSH", "old", "1", "2");
        int before = fixture.store.accepted();
        replies("+OK", "MULTI");
        queueAll("RPUSH a 1, RPUSH b 1 2, RPUSH a 2, LTRIM b 1 -1, DEL old a absent, RPUSHX a gone, EXPIRE b 100");
        try (RespClient other = fixture.connect()) {
            assertThat(other.call("EXISTS", "a", "b", "old")).isEqualTo(":1");
        }
        replies("[:1, :2, :2, +OK, :2, :0, :1]", "EXEC");
        fixture.store.awaitAccepted(before + 1);
        assertThat(fixture.store.accepted()).isEqualTo(before + 1);
        replies("[$2]", "LRANGE", "b", "0", "-1");
        replies(":100", "TTL", "b");
        replies(":0", "EXISTS", "a", "old");
    }

    @Test
    void execRepliesAfterWriteIsDurable() throws Exception {
        int before = fixture.store.accepted();
        fixture.store.hold();
        client.send("MULTI");
        client.send("RPUSH", "a", "1");
        client.send("RPUSH", "b", "1");
        client.send("EXEC");
        client.send("PING");
        fixture.store.awaitAccepted(before + 1);
        client.reads("+OK", "+QUEUED", "+QUEUED");
        assertThat(client.hasInput()).isFalse();
        fixture.store.release();
        client.reads("[:1, :1]", "+PONG");
    }

    @Test
    void failingCommandDiscardsAllWrites() throws IOException {
        client.call("RPUSH", "k", "1", "2");
        client.call("MULTI");
        client.call("RPUSH", "other", "1");
        client.call("CARAVAN.APPEND", "k", "IFSEQ", "1", "v");
        client.call("DEL", "k");
        String conflict = "CONFLICT expected 1 actual 2 (command 2 of the transaction, CARAVAN.APPEND;";
        fails(conflict + " nothing has been changed)", "EXEC");
        replies(":2", "LLEN", "k");
        replies(":0", "EXISTS", "other");
        client.call("MULTI");
        client.call("RPUSH", "other", "1");
        client.call("LTRIM", "k", "0", "0");
        fails("ERR LTRIM can only trim values from the head", "EXEC");
        replies(":0", "EXISTS", "other");
        replies("-ERR EXEC without MULTI", "EXEC");
    }

    @Test
    void commandRejectedWhenQueuedAbortsTransaction() throws IOException {
        String notQueued =
                "SCAN 0, CARAVAN.INFO k, CARAVAN.READ k FROM 0 BLOCK 1000, PING, NOSUCH, RPUSH k, LTRIM k x 1,"
                        + " RPUSH  empty, WATCH k";
        for (String wrong : notQueued.split(", ")) {
            replies("+OK", "MULTI");
            replies("+QUEUED", "RPUSH", "k", "v");
            fails("ERR ", wrong.split(" "));
            replies("+QUEUED", "RPUSH", "k", "w");
            replies("-EXECABORT Transaction discarded because of previous errors.", "EXEC");
        }
        replies(":0", "LLEN", "k");
        client.call("MULTI");
        fails("ERR SCAN cannot be in MULTI: a transaction contains commands that write documents", "SCAN", "0");
        replies("+OK", "DISCARD");
        replies("-ERR DISCARD without MULTI", "DISCARD");
        replies(":0", "LLEN", "k");
    }

    @Test
    void rejectsNestingAndEndsOnResetOrQuit() throws IOException {
        replies("+OK", "MULTI");
        replies("-ERR MULTI calls can not be nested", "MULTI");
        replies("[]", "EXEC");
        replies("+OK", "MULTI");
        replies("+RESET", "RESET");
        replies(":1", "RPUSH", "k", "v");
        replies("+OK", "MULTI");
        replies("+QUEUED", "DEL", "k");
        replies("+OK", "QUIT");
        assertThat(client.atEnd()).isTrue();
        try (RespClient other = fixture.connect()) {
            assertThat(other.call("LLEN", "k")).isEqualTo(":1");
        }
    }

    @Test
    void limitsCommandsAndBytes() throws IOException {
        replies("+OK", "MULTI");
        String value = "v".repeat(MAX_BYTES / 4);
        for (int i = 0; i < 3; i++) {
            replies("+QUEUED", "RPUSH", "k", value);
        }
        fails("ERR the transaction is over the limit of 16384 commands or 2097152 bytes", "RPUSH", "k", value);
        fails("EXECABORT", "EXEC");
        client.call("MULTI");
        for (int i = 0; i < 16_385; i++) {
            client.send("DEL", "k");
        }
        for (int i = 0; i < 16_384; i++) {
            assertThat(client.read()).isEqualTo("+QUEUED");
        }
        assertThat(client.read()).startsWith("-ERR the transaction is over the limit");
        client.call("DISCARD");
        replies(":0", "LLEN", "k");
    }

    @Test
    void valueOverStoreLimitRejectsTransaction() throws IOException {
        try (RespFixture small = new RespFixture(
                        ListStore.inMemory(StoreConfig.builder(Path.of("memory"))
                                .maxValueBytes(1_000)
                                .build()),
                        Authenticator.open(),
                        MAX_BYTES,
                        Duration.ofSeconds(30));
                RespClient writer = small.connect()) {
            writer.call("MULTI");
            writer.call("RPUSH", "a", "fits");
            writer.call("RPUSH", "b", "v".repeat(1_001));
            assertThat(writer.call("EXEC")).startsWith("-ERR ");
            assertThat(writer.call("EXISTS", "a", "b")).isEqualTo(":0");
        }
    }
}
