package io.caravan.server.protocol.resp;

import static io.caravan.server.protocol.resp.RespFixture.command;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.ListStore;
import io.caravan.server.app.ServerFixture;
import io.caravan.server.metrics.ServerMetrics;
import io.caravan.server.net.ConnectionMemory;
import io.caravan.server.net.Unbounded;
import io.caravan.server.security.Authenticator;
import io.netty.channel.embedded.EmbeddedChannel;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Tests clients that request large replies and read them slowly or not at all. */
@Execution(ExecutionMode.CONCURRENT)
class SlowReaderTest extends RespTestBase {
    private static final int VALUES = 20;
    private static final int VALUE_BYTES = 1_000_000;

    @Override
    RespFixture newFixture() throws IOException {
        return new RespFixture(
                ListStore.inMemory(), Authenticator.open(), ServerFixture.MAX_REQUEST_BYTES, Duration.ofSeconds(2));
    }

    private void fill() throws IOException {
        for (int i = 0; i < VALUES; i++) {
            client.call("RPUSH", "k", Character.toString('a' + i % 26).repeat(VALUE_BYTES));
        }
    }

    /** Requests all values and reads only the start of the reply. */
    private RespClient startReading() throws IOException {
        RespClient slow = fixture.connect();
        slow.send("LRANGE", "k", "0", "-1");
        assertThat(slow.readRaw(15)).isEqualTo("*20\r\n$1000000\r\n".getBytes(UTF_8));
        return slow;
    }

    @Test
    void slowReadersBlockNoThreadAndReceiveAllValues() throws IOException {
        fill();
        List<RespClient> slow = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            slow.add(startReading());
        }
        replies(":" + VALUES, "LLEN", "k");
        int rest = VALUES * (VALUE_BYTES + "$1000000\r\n\r\n".length()) - "$1000000\r\n".length();
        for (RespClient client : slow) {
            byte[] all = client.readRaw(rest);
            assertThat(all).hasSize(rest);
            assertThat(all[rest - 3]).isEqualTo((byte) ('a' + (VALUES - 1) % 26));
            assertThat(client.call("PING")).isEqualTo("+PONG");
            client.close();
        }
    }

    @Test
    void halfClosedSlowReaderReceivesAllValues() throws IOException {
        fill();
        try (RespClient slow = fixture.connect(16 * 1024)) {
            slow.send("LRANGE", "k", "0", "-1");
            slow.finishSending();
            int all = "*20\r\n".length() + VALUES * ("$1000000\r\n\r\n".length() + VALUE_BYTES);
            assertThat(slow.readRaw(all)).hasSize(all);
            assertThat(slow.atEnd()).isTrue();
        }
    }

    @Test
    void trimDisconnectsSlowReader() throws IOException {
        fill();
        try (RespClient slow = startReading()) {
            replies("+OK", "LTRIM", "k", "-1", "-1");
            int rest = VALUES * VALUE_BYTES;
            assertThat(slow.readRaw(rest)).hasSizeLessThan(rest);
        }
        try (RespClient other = fixture.connect()) {
            assertThat(other.call("LLEN", "k")).isEqualTo(":1");
        }
    }

    @Test
    void slowReaderDoesNotReadRecreatedDocument() throws IOException {
        fill();
        try (RespClient slow = startReading()) {
            replies(":1", "DEL", "k");
            fill();
            int rest = VALUES * VALUE_BYTES;
            assertThat(slow.readRaw(rest)).hasSizeLessThan(rest);
        }
    }

    @Test
    void disconnectsStalledReader() throws IOException {
        fill();
        try (RespClient stalled = startReading()) {
            becomes("$# Clients\r\nconnected_clients:1\r\n", "INFO", "clients");
            int rest = VALUES * VALUE_BYTES;
            assertThat(stalled.readRaw(rest)).hasSizeLessThan(rest);
        }
    }

    @Test
    void disconnectsClientWithUnreadReplies() throws IOException {
        for (int i = 0; i < 4; i++) {
            client.call("RPUSH", "k", "v".repeat(VALUE_BYTES));
        }
        try (RespClient stalled = fixture.connect(4 * 1024)) {
            // Without this wait, the check for one client could succeed before the server has accepted the connection.
            becomes("$# Clients\r\nconnected_clients:2\r\n", "INFO", "clients");
            stalled.send("LRANGE", "k", "-1", "-1");
            stalled.send("LRANGE", "k", "-2", "-2");
            stalled.send("LRANGE", "k", "-3", "-3");
            stalled.send("LRANGE", "k", "-4", "-4");
            becomes("$# Clients\r\nconnected_clients:1\r\n", "INFO", "clients");
            assertThat(stalled.readRaw(4 * VALUE_BYTES)).hasSizeLessThan(4 * VALUE_BYTES);
        }
    }

    /** The reads of a stalled client must be limited by the size of its replies, not only by their number. */
    @Test
    void limitsReadsOfStalledClient() throws IOException {
        client.call("RPUSH", "k", "v".repeat(VALUE_BYTES));
        try (RespClient stalled = fixture.connect(4 * 1024)) {
            becomes("$# Clients\r\nconnected_clients:2\r\n", "INFO", "clients");
            int reads = fixture.store.reads();
            for (int i = 0; i < 1_000; i++) {
                stalled.send("LINDEX", "k", "0");
            }
            becomes("$# Clients\r\nconnected_clients:1\r\n", "INFO", "clients");
            assertThat(fixture.store.reads() - reads).isBetween(1, 20);
        }
    }

    /** The limit on unread replies must also apply to replies that the event loop computes. */
    @Test
    void disconnectsClientWithManyUnreadReplies() throws IOException {
        try (RespClient stalled = fixture.connect(4 * 1024)) {
            becomes("$# Clients\r\nconnected_clients:2\r\n", "INFO", "clients");
            for (int i = 0; i < 2_000; i++) {
                stalled.send("COMMAND", "DOCS");
            }
            becomes("$# Clients\r\nconnected_clients:1\r\n", "INFO", "clients");
        }
    }

    @Test
    void exhaustedReplyMemoryDelaysReadsNotWrites() {
        EmbeddedChannel channel = new EmbeddedChannel();
        List<ConnectionMemory> shared = Unbounded.memories(VALUE_BYTES, channel, new EmbeddedChannel());
        ConnectionMemory own = shared.get(0);
        ConnectionMemory others = shared.get(1);
        Queue<Runnable> readers = new ArrayDeque<>();
        ServerMetrics metrics = new ServerMetrics();
        RespLimits limits = new RespLimits(VALUE_BYTES, VALUE_BYTES);
        RespProtocol protocol = fixture.protocol(limits, null, readers::add, Authenticator.open(), metrics);
        channel.pipeline().addLast(new RespHandler(channel, protocol, own));
        others.holdReply(VALUE_BYTES);
        channel.writeInbound(
                command(protocol.table().get("RPUSH"), "RPUSH", "k", "v"),
                command(protocol.table().get("LINDEX"), "LINDEX", "k", "0"));
        assertThat(fixture.store.accepted()).isOne();
        assertThat(readers).isEmpty();
        others.holdReply(-VALUE_BYTES);
        channel.runPendingTasks();
        assertThat(readers).hasSize(1);
        channel.finishAndReleaseAll();
        metrics.close();
    }

    @Test
    void activeReaderReceivesManyLargeReplies() throws IOException {
        client.call("RPUSH", "k", "v".repeat(VALUE_BYTES));
        String expected = "$" + "v".repeat(VALUE_BYTES);
        for (int i = 0; i < 60; i++) {
            client.send("LINDEX", "k", "0");
            client.send("RPUSH", "n", "v");
        }
        for (int i = 1; i <= 60; i++) {
            client.reads(expected, ":" + i);
        }
    }
}
