package io.caravan.server.protocol.resp;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.server.security.TestUsers;
import io.caravan.testing.Eventually;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the publishing of messages to the subscribers of channels and patterns. */
class PubSubTest extends RespTestBase {

    private RespClient listener(String... channels) throws IOException {
        RespClient listener = fixture.connect();
        for (String channel : channels) {
            listener.call("SUBSCRIBE", channel);
        }
        return listener;
    }

    private void awaitMetric(String line) {
        Eventually.await(line, () -> fixture.metrics.scrape().contains("\n" + line + "\n"));
    }

    @Test
    void publishesToChannelSubscribers() throws IOException {
        try (RespClient one = fixture.connect();
                RespClient other = listener("b")) {
            one.send("SUBSCRIBE", "a", "b", "a");
            one.reads("[$subscribe, $a, :1]", "[$subscribe, $b, :2]", "[$subscribe, $a, :2]");
            replies(":1", "PUBLISH", "a", "hello");
            replies(":2", "PUBLISH", "b", "");
            replies(":0", "PUBLISH", "c", "nobody");
            one.reads("[$message, $a, $hello]", "[$message, $b, $]");
            assertThat(other.read()).isEqualTo("[$message, $b, $]");
            awaitMetric("caravan_subscriptions 3.0");
            assertThat(one.call("UNSUBSCRIBE", "b", "x")).isEqualTo("[$unsubscribe, $b, :1]");
            assertThat(one.read()).isEqualTo("[$unsubscribe, $x, :1]");
            replies(":1", "PUBLISH", "b", "again");
            assertThat(other.read()).isEqualTo("[$message, $b, $again]");
            assertThat(one.call("UNSUBSCRIBE")).isEqualTo("[$unsubscribe, $a, :0]");
            assertThat(one.call("UNSUBSCRIBE")).isEqualTo("[$unsubscribe, null, :0]");
            assertThat(one.call("LLEN", "a")).isEqualTo(":0");
        }
    }

    @Test
    void publishesToPatternSubscribers() throws IOException {
        try (RespClient one = fixture.connect();
                RespClient other = listener("news/b")) {
            one.send("PSUBSCRIBE", "news/*", "*[ab]", "news/*");
            one.reads("[$psubscribe, $news/*, :1]", "[$psubscribe, $*[ab], :2]", "[$psubscribe, $news/*, :2]");
            assertThat(one.call("SUBSCRIBE", "news/c")).isEqualTo("[$subscribe, $news/c, :3]");
            replies(":0", "PUBLISH", "c", "nobody");
            replies(":1", "PUBLISH", "a", "first");
            assertThat(one.read()).isEqualTo("[$pmessage, $*[ab], $a, $first]");
            replies(":2", "PUBLISH", "news/c", "second");
            one.reads("[$message, $news/c, $second]", "[$pmessage, $news/*, $news/c, $second]");
            replies(":3", "PUBLISH", "news/b", "third");
            assertThat(other.read()).isEqualTo("[$message, $news/b, $third]");
            assertThat(new String[] {one.read(), one.read()})
                    .containsExactlyInAnyOrder(
                            "[$pmessage, $*[ab], $news/b, $third]", "[$pmessage, $news/*, $news/b, $third]");
            awaitMetric("caravan_subscriptions 4.0");
            assertThat(one.call("PUNSUBSCRIBE", "*[ab]", "x")).isEqualTo("[$punsubscribe, $*[ab], :2]");
            assertThat(one.read()).isEqualTo("[$punsubscribe, $x, :2]");
            replies(":0", "PUBLISH", "a", "nobody");
            assertThat(one.call("UNSUBSCRIBE")).isEqualTo("[$unsubscribe, $news/c, :1]");
            assertThat(one.call("UNSUBSCRIBE")).isEqualTo("[$unsubscribe, null, :1]");
            assertThat(one.call("LLEN", "a")).startsWith("-ERR Can't execute");
            assertThat(one.call("PUNSUBSCRIBE")).isEqualTo("[$punsubscribe, $news/*, :0]");
            assertThat(one.call("PUNSUBSCRIBE")).isEqualTo("[$punsubscribe, null, :0]");
            assertThat(one.call("LLEN", "a")).isEqualTo(":0");
        }
        awaitMetric("caravan_subscriptions 0.0");
    }

    @Test
    void patternSubscriptionsEndOnDisconnectAndReset() throws IOException {
        RespClient disconnected = fixture.connect();
        disconnected.call("PSUBSCRIBE", "a*");
        replies("[$psubscribe, $a*, :1]", "PSUBSCRIBE", "a*");
        awaitMetric("caravan_subscriptions 2.0");
        disconnected.close();
        awaitMetric("caravan_subscriptions 1.0");
        replies("+RESET", "RESET");
        replies(":0", "PUBLISH", "ab", "nobody");
        awaitMetric("caravan_subscriptions 0.0");
    }

    @Test
    void psubscribeOverLimitsAddsNoPatterns() throws IOException {
        fails("ERR wrong number of arguments for 'psubscribe'", "PSUBSCRIBE");
        fails("ERR a pattern has at most 4096 bytes", "PSUBSCRIBE", "a*", "*".repeat(4097));
        String[] words = new String[128 + 2];
        words[0] = "PSUBSCRIBE";
        for (int i = 1; i < words.length; i++) {
            words[i] = "*" + i;
        }
        fails("ERR a connection subscribes to at most 128 patterns; remove some with PUNSUBSCRIBE", words);
        replies(":0", "PUBLISH", "a1", "nobody");
        awaitMetric("caravan_subscriptions 0.0");
        client.call("MULTI");
        fails("ERR PSUBSCRIBE cannot be in MULTI", "PSUBSCRIBE", "a");
    }

    @Test
    void limitsTotalPatternBytesOfAllClients() throws IOException {
        String rest = "x".repeat(4094) + "*";
        List<RespClient> all = new ArrayList<>();
        try (RespClient other = fixture.connect()) {
            for (String first : List.of("0", "1", "2", "3")) {
                RespClient one = fixture.connect();
                all.add(one);
                assertThat(one.call("PSUBSCRIBE", first + rest)).startsWith("[$psubscribe");
                assertThat(one.call("PSUBSCRIBE", "*"))
                        .startsWith("-ERR the patterns of a connection have at most 4096 bytes together");
            }
            fails(
                    "ERR all clients together have subscribed to 16384 bytes of different patterns, which is the limit",
                    "PSUBSCRIBE",
                    "*");
            assertThat(other.call("PSUBSCRIBE", "0" + rest)).as("the same").endsWith(":1]");
            assertThat(other.call("PUNSUBSCRIBE")).endsWith(":0]");
            fails("ERR all clients together", "PSUBSCRIBE", "*");
            awaitMetric("caravan_subscriptions 4.0");
            assertThat(all.get(0).call("PUNSUBSCRIBE", "0" + rest)).endsWith(":0]");
            replies("[$psubscribe, $*, :1]", "PSUBSCRIBE", "*");
        } finally {
            for (RespClient one : all) {
                one.close();
            }
        }
    }

    @Test
    void publishStoresNothing() throws IOException {
        try (RespClient listener = listener("a")) {
            int before = fixture.store.accepted();
            replies(":1", "PUBLISH", "a", "hello");
            assertThat(listener.read()).isEqualTo("[$message, $a, $hello]");
            assertThat(fixture.store.accepted()).isEqualTo(before);
            replies(":0", "DBSIZE");
        }
    }

    @Test
    void resp2SubscriberCannotRunOtherCommands() throws IOException {
        client.call("SUBSCRIBE", "a");
        fails("ERR Can't execute 'llen': only (P)SUBSCRIBE / (P)UNSUBSCRIBE / PING / QUIT / RESET", "LLEN", "a");
        fails("ERR Can't execute 'publish'", "PUBLISH", "a", "b");
        fails("ERR Can't execute 'multi'", "MULTI");
        replies("[$pong, $]", "PING");
        replies("[$pong, $hi]", "PING", "hi");
        replies("+RESET", "RESET");
        replies(":0", "LLEN", "a");
        replies(":0", "PUBLISH", "a", "b");
        client.call("SUBSCRIBE", "a");
        replies("+OK", "QUIT");
        assertThat(client.atEnd()).isTrue();
        awaitMetric("caravan_subscriptions 0.0");
    }

    @ParameterizedTest
    @CsvSource({"subscribe, unsubscribe, a, '$message, $a'", "psubscribe, punsubscribe, a*, '$pmessage, $a*, $a'"})
    void resp3DistinguishesMessagesFromReplies(String begin, String end, String name, String message)
            throws IOException {
        client.call("HELLO", "3");
        replies(">[$" + begin + ", $" + name + ", :1]", begin, name);
        client.send("PUBLISH", "a", "own");
        assertThat(new String[] {client.read(), client.read()})
                .containsExactlyInAnyOrder(":1", ">[" + message + ", $own]");
        replies(":1", "RPUSH", "a", "v");
        replies("+PONG", "PING");
        replies(">[$" + end + ", $" + name + ", :0]", end);
    }

    /** Messages that are queued behind a pending reply must not delay the replies before that reply. */
    @Test
    void messagesDoNotDelayEarlierReplies() throws IOException {
        String message = "x".repeat(64 * 1024);
        int messages = 40;
        try (RespClient listener = fixture.connect()) {
            listener.call("HELLO", "3");
            listener.call("SUBSCRIBE", "a");
            // Blocks first on j, so that the server starts the other two commands at the same time.
            listener.sendRaw("BLPOP j 0\r\nBLPOP k l 0\r\nLLEN k\r\n".getBytes(US_ASCII));
            awaitMetric("caravan_blocked_pops 1.0");
            replies(":1", "RPUSH", "j", "u");
            assertThat(listener.read()).isEqualTo("[$j, $u]");
            awaitMetric("caravan_blocked_pops 2.0");
            for (int i = 0; i < messages; i++) {
                replies(":1", "PUBLISH", "a", message);
            }
            replies(":1", "RPUSH", "k", "v");
            listener.reads("[$k, $v]", ":0");
            for (int i = 0; i < messages; i++) {
                assertThat(listener.read()).isEqualTo(">[$message, $a, $" + message + "]");
            }
        }
    }

    @Test
    void limitsChannelsPerCommand() throws IOException {
        String[] words = new String[16 * 1024 + 2];
        Arrays.fill(words, "a");
        for (String command : List.of("SUBSCRIBE", "UNSUBSCRIBE", "PSUBSCRIBE", "PUNSUBSCRIBE")) {
            words[0] = command;
            fails("ERR " + command + " accepts at most 16384 channels at a time", words);
        }
    }

    @Test
    void deliversMessagesInOrder() throws IOException {
        int messages = 5_000;
        try (RespClient listener = listener("a")) {
            for (int i = 0; i < messages; i++) {
                client.send("PUBLISH", "a", "m" + i);
            }
            for (int i = 0; i < messages; i++) {
                assertThat(listener.read()).isEqualTo("[$message, $a, $m" + i + "]");
                assertThat(client.read()).isEqualTo(":1");
            }
        }
        assertThat(fixture.metrics.scrape()).contains("\ncaravan_subscribers_closed_total 0.0\n");
    }

    @Test
    void disconnectsOnlySlowSubscriber() throws IOException {
        String message = "m".repeat(1_000_000);
        try (RespClient slow = fixture.connect(4096);
                RespClient fast = listener("a")) {
            slow.call("SUBSCRIBE", "a");
            int sent = 0;
            while (client.call("PUBLISH", "a", message).equals(":2") && sent < 200) {
                sent++;
                assertThat(fast.read()).hasSizeGreaterThan(message.length());
            }
            assertThat(sent).isBetween(32, 100);
            awaitMetric("caravan_subscribers_closed_total 1.0");
            awaitMetric("caravan_subscriptions 1.0");
            Eventually.await("its memory is free", () -> fixture.network.replyBytes() < message.length());
            assertThat(fast.read()).hasSizeGreaterThan(message.length());
            replies(":1", "PUBLISH", "a", "last");
            assertThat(fast.read()).isEqualTo("[$message, $a, $last]");
        }
    }

    @Test
    void subscriptionsEndOnDisconnectAndDrain() throws IOException {
        RespClient disconnected = listener("a", "b");
        awaitMetric("caravan_subscriptions 2.0");
        disconnected.close();
        awaitMetric("caravan_subscriptions 0.0");
        replies(":0", "PUBLISH", "a", "b");
        try (RespClient stopped = listener("a")) {
            fixture.network.drain(Duration.ofSeconds(20));
            assertThat(stopped.atEnd()).isTrue();
        }
    }

    @Test
    void invalidCommandsAddNoSubscription() throws IOException {
        fails("ERR wrong number of arguments for 'subscribe'", "SUBSCRIBE");
        fails("ERR wrong number of arguments for 'publish'", "PUBLISH", "a");
        fails("ERR a document's name", "SUBSCRIBE", "a", "n".repeat(1025));
        replies(":0", "PUBLISH", "a", "b");
        fails("ERR unknown command 'SSUBSCRIBE'", "SSUBSCRIBE", "a");
        client.call("MULTI");
        fails("ERR SUBSCRIBE cannot be in MULTI", "SUBSCRIBE", "a");
    }

    @Test
    void channelsRequireDocumentPermissions() throws IOException {
        TestUsers users = new TestUsers("""
                editor.secret = does-both-of-them
                editor.permissions = read, write
                editor.prefixes = mine/
                reader.secret = reads-and-reads
                reader.permissions = read
                """);
        try (RespFixture guarded = RespFixture.with(users.authenticator);
                RespClient editor = guarded.connect();
                RespClient reader = guarded.connect()) {
            assertThat(reader.call("SUBSCRIBE", "mine/a")).isEqualTo("-NOAUTH Authentication required.");
            editor.call("AUTH", "editor", "does-both-of-them");
            reader.call("AUTH", "reader", "reads-and-reads");
            assertThat(editor.call("SUBSCRIBE", "mine/a", "theirs/a")).startsWith("-NOPERM ");
            assertThat(editor.call("PUBLISH", "theirs/a", "m")).startsWith("-NOPERM ");
            assertThat(editor.call("PUBLISH", "mine/a", "m")).isEqualTo(":0");
            for (String pattern : List.of("*", "min*", "mine*", "[m]ine/*", "theirs/*", "")) {
                assertThat(editor.call("PSUBSCRIBE", "mine/*", pattern))
                        .as(pattern)
                        .startsWith("-NOPERM ");
            }
            assertThat(editor.call("PUBLISH", "mine/a", "m")).as("all or none").isEqualTo(":0");
            for (String pattern : List.of("mine/*", "mine/", "\\mine/?")) {
                assertThat(editor.call("PSUBSCRIBE", pattern)).as(pattern).startsWith("[$psubscribe");
                assertThat(editor.call("PUNSUBSCRIBE")).startsWith("[$punsubscribe");
            }
            assertThat(reader.call("PUBLISH", "mine/a", "m")).startsWith("-NOPERM ");
            assertThat(reader.call("SUBSCRIBE", "mine/a")).isEqualTo("[$subscribe, $mine/a, :1]");
            users.replace("reads-and-reads", "another-secret");
            editor.call("PUBLISH", "mine/a", "m");
            assertThat(reader.atEnd()).isTrue();
        }
    }

    @Test
    void publishDisconnectsRevokedPatternSubscriber() throws IOException {
        TestUsers users = new TestUsers("""
                writer.secret = writes-and-writes
                writer.permissions = write
                reader.secret = reads-and-reads
                reader.permissions = read
                """);
        try (RespFixture guarded = RespFixture.with(users.authenticator);
                RespClient writer = guarded.connect();
                RespClient reader = guarded.connect()) {
            writer.call("AUTH", "writer", "writes-and-writes");
            assertThat(writer.call("PSUBSCRIBE", "*")).startsWith("-NOPERM ");
            reader.call("AUTH", "reader", "reads-and-reads");
            assertThat(reader.call("PSUBSCRIBE", "*")).isEqualTo("[$psubscribe, $*, :1]");
            assertThat(writer.call("PUBLISH", "a", "m")).isEqualTo(":1");
            assertThat(reader.read()).isEqualTo("[$pmessage, $*, $a, $m]");
            users.replace("reads-and-reads", "another-secret");
            writer.call("PUBLISH", "a", "m");
            assertThat(reader.atEnd()).isTrue();
        }
    }

    /** Matching a channel against all patterns must not delay the other clients of the event loop. */
    @Test
    void matchesPatternsOffEventLoopInOrder() throws Exception {
        CountDownLatch release = new CountDownLatch(1);
        try (RespClient listener = fixture.connect();
                RespClient other = fixture.connect()) {
            assertThat(listener.call("PSUBSCRIBE", "*")).startsWith("[$psubscribe");
            fixture.occupyReaders(release);
            for (int i = 0; i < 100; i++) {
                client.send("PUBLISH", "a", "m" + i);
            }
            Eventually.await("a message waits for a reading thread", () -> fixture.waitingForReaders() > 0);
            assertThat(other.call("PING")).isEqualTo("+PONG");
            release.countDown();
            for (int i = 0; i < 100; i++) {
                assertThat(client.read()).isEqualTo(":1");
                assertThat(listener.read()).isEqualTo("[$pmessage, $*, $a, $m" + i + "]");
            }
        } finally {
            release.countDown();
        }
    }
}
