package io.caravan.server.protocol.resp;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.ListStore;
import io.caravan.catalog.Catalog;
import io.caravan.catalog.DocumentName;
import io.caravan.server.app.IgnoredOutcome;
import io.caravan.server.document.DocumentService;
import io.caravan.server.document.space.DocumentDurability;
import io.caravan.server.net.ConnectionMemory;
import io.caravan.server.net.Unbounded;
import io.caravan.server.protocol.resp.ReplyQueue.PendingReply;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class KeysReadingTest {
    private static final int DOCUMENTS = 5_000;

    private final ListStore store = ListStore.inMemory();
    private final DocumentService documents =
            new DocumentService(store, Catalog.open(store, 0), DocumentDurability.SYNC);
    private final EmbeddedChannel channel = new EmbeddedChannel();
    private final AtomicInteger woken = new AtomicInteger();

    private void push(String name) {
        documents.write(
                DocumentName.of(name), document -> document.append(List.of(new byte[1])), new IgnoredOutcome<>());
    }

    @Test
    void keysChecksFewDocumentsPerTurn() {
        Reply reply = checksFewDocumentsPerTurn(new KeyCommands(documents)::keys, "KEYS", "*");
        assertThat(reply)
                .isInstanceOfSatisfying(
                        Reply.Array.class, all -> assertThat(all.elements()).hasSize(DOCUMENTS));
    }

    @Test
    void scanChecksFewDocumentsPerTurn() {
        Reply reply = checksFewDocumentsPerTurn(new KeyCommands(documents)::scan, "SCAN", "0", "COUNT", "10000");
        assertThat(reply)
                .isInstanceOfSatisfying(
                        Reply.Array.class,
                        page -> assertThat(page.elements())
                                .last()
                                .isInstanceOfSatisfying(
                                        Reply.Array.class,
                                        all -> assertThat(all.elements()).hasSize(DOCUMENTS)));
    }

    /**
     * Runs a command, and checks that each turn on a reading thread checks only a few documents.
     *
     * @return the reply
     */
    private Reply checksFewDocumentsPerTurn(Action.Read read, String... words) {
        for (int i = 0; i < DOCUMENTS; i++) {
            push("k" + i);
        }
        ConnectionMemory memory = Unbounded.memory(channel);
        PendingReply pendingReply = RespFixture.open(RespFixture.session(channel, memory), words);
        pendingReply.nextTurn = woken::incrementAndGet;
        ResumableRead keys = read.start(pendingReply);
        int turns = 1;
        long previousBytes = 0;
        while (!keys.proceed()) {
            assertThat(pendingReply.reply()).isNull();
            assertThat(memory.replyBytes()).isGreaterThan(previousBytes);
            previousBytes = memory.replyBytes();
            turns++;
        }
        assertThat(turns).isBetween(3, 6);
        assertThat(woken).hasValue(turns - 1);
        documents.close();
        return Objects.requireNonNull(pendingReply.reply());
    }

    @Test
    void existsChecksFewNamesPerTurn() {
        List<String> words = new ArrayList<>(List.of("EXISTS"));
        for (int i = 0; i < 2 * KeyCommands.TURN_NAMES + 1; i++) {
            push("k" + i);
            words.add("k" + i);
        }
        Session session = RespFixture.session(channel);
        CommandSpec spec = CommandSpec.generic("EXISTS", -2, CommandSpec.Keys.ALL, "", "");
        Command command = RespFixture.command(spec, words.toArray(String[]::new));
        PendingReply pendingReply = session.replies.open(session, command, 0);
        pendingReply.nextTurn = woken::incrementAndGet;
        ResumableRead exists = new KeyCommands(documents).exists(pendingReply);
        assertThat(exists.proceed()).isFalse();
        assertThat(exists.proceed()).isFalse();
        assertThat(exists.proceed()).isTrue();
        assertThat(woken).hasValue(2);
        assertThat(pendingReply.reply()).isEqualTo(new Reply.Number(words.size() - 1));
        documents.close();
    }
}
