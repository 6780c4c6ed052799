package io.caravan.server.protocol.resp;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.testing.Eventually;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Tests {@code BLPOP}: the order of the waiting clients, and the clients that receive no value. */
class BlockingPopTest extends RespTestBase {
    private static final Pattern WAITING = Pattern.compile("(?m)^caravan_blocked_pops ([0-9]+)");

    /** Waits until clients are blocked on this number of document names. */
    private void awaitWaiting(int names) {
        Eventually.await(names + " names are waited for", () -> waiting() == names);
    }

    private int waiting() {
        Matcher metric = WAITING.matcher(fixture.metrics.scrape());
        assertThat(metric.find()).isTrue();
        return Integer.parseInt(metric.group(1));
    }

    private RespClient waitFor(String... names) throws IOException {
        int before = waiting();
        RespClient waiter = fixture.connect();
        sendPop(waiter, "0", names);
        awaitWaiting(before + names.length);
        return waiter;
    }

    private static void sendPop(RespClient waiter, String timeout, String... names) throws IOException {
        List<String> words = new ArrayList<>(List.of("BLPOP"));
        words.addAll(Arrays.asList(names));
        words.add(timeout);
        waiter.send(words.toArray(String[]::new));
    }

    @Test
    void popsImmediatelyFromFirstNonEmptyDocument() throws IOException {
        client.call("RPUSH", "b", "1", "2");
        client.call("RPUSH", "c", "3");
        replies("[$b, $1]", "BLPOP", "a", "b", "c", "0");
        replies("[$c, $3]", "BLPOP", "c", "b", "0.5");
        replies("[$b, $2]", "BLPOP", "a", "b", "b", "1.");
        replies(":0", "LLEN", "b");
        assertThat(waiting()).isZero();
    }

    @Test
    void redirectsWaiterWhenDocumentMoves() throws IOException {
        client.call("RPUSH", "k", "1");
        client.call("LPOP", "k");
        RespClient waiter = waitFor("k");
        client.call("CARAVAN.MOVE", "k", "FENCE", "5", "other:6380");
        client.call("CARAVAN.MOVE", "k", "REDIRECT", "5");
        assertThat(waiter.read()).startsWith("-RELOCATED other:6380 ");
        waiter.close();
    }

    @Test
    void timesOutWithoutPoppingAndValidatesTimeout() throws IOException {
        replies("nullarray", "BLPOP", "k", "j", "0.01");
        awaitWaiting(0);
        client.call("RPUSH", "k", "a");
        replies(":1", "LLEN", "k");
        fails("ERR timeout is negative", "BLPOP", "k", "-1");
        for (String wrong : List.of("soon", "", ".", "-", "NaN", "1e3", "0x1p3", "1f", "9999999999")) {
            fails("ERR timeout is not a float or out of range", "BLPOP", "k", wrong);
        }
        fails("ERR wrong number of arguments for 'blpop'", "BLPOP", "k");
        fails("ERR a document's name", "BLPOP", "", "0");
        replies(":1", "LLEN", "k");
        client.call("HELLO", "3");
        replies("_", "BLPOP", "other", "0.01");
    }

    @Test
    void servesWaitersInArrivalOrder() throws IOException {
        List<RespClient> waiters = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            waiters.add(waitFor("k"));
        }
        replies(":5", "RPUSH", "k", "0", "1", "2", "3", "4");
        for (int i = 0; i < 5; i++) {
            assertThat(waiters.get(i).read()).isEqualTo("[$k, $" + i + "]");
            waiters.get(i).close();
        }
        awaitWaiting(0);
        replies(":0", "LLEN", "k");
    }

    @Test
    void waiterForSeveralDocumentsPopsFromOne() throws IOException {
        try (RespClient both = waitFor("a", "b");
                RespClient second = waitFor("b")) {
            client.call("RPUSH", "b", "1", "2");
            assertThat(both.read()).isEqualTo("[$b, $1]");
            assertThat(second.read()).isEqualTo("[$b, $2]");
            client.call("RPUSH", "a", "3");
            replies(":1", "LLEN", "a");
            awaitWaiting(0);
        }
    }

    @Test
    void disconnectedWaiterPopsNothing() throws IOException {
        RespClient disconnected = waitFor("k");
        RespClient next = waitFor("k");
        disconnected.close();
        awaitWaiting(1);
        client.call("RPUSH", "k", "a");
        assertThat(next.read()).isEqualTo("[$k, $a]");
        next.close();
        replies(":0", "LLEN", "k");
        RespClient last = waitFor("k");
        last.close();
        awaitWaiting(0);
        client.call("RPUSH", "k", "b");
        replies("[$b]", "LRANGE", "k", "0", "-1");
    }

    @Test
    void halfClosedWaiterPopsNothing() throws IOException {
        try (RespClient finished = waitFor("k")) {
            finished.finishSending();
            assertThat(finished.read()).startsWith("-UNBLOCKED the client has closed");
        }
        awaitWaiting(0);
        client.call("RPUSH", "k", "a");
        replies("[$a]", "LRANGE", "k", "0", "-1");
    }

    @Test
    void unblocksWaitersOnHalfCloseAndServerStop() throws IOException {
        try (RespClient finished = waitFor("k");
                RespClient stopped = waitFor("k")) {
            finished.finishSending();
            assertThat(finished.read()).startsWith("-UNBLOCKED the client has closed its side");
            assertThat(finished.atEnd()).isTrue();
            fixture.network.drain(Duration.ofSeconds(20));
            assertThat(stopped.read()).startsWith("-UNBLOCKED the server is stopping");
            assertThat(stopped.atEnd()).isTrue();
        }
    }

    /** A blocked client must get no reply until both the push and the pop of the value are durable. */
    @Test
    void repliesOnlyWhenPopIsDurable() throws Exception {
        try (RespClient waiter = waitFor("k");
                RespClient other = fixture.connect()) {
            int before = fixture.store.accepted();
            fixture.store.hold();
            client.send("RPUSH", "k", "a");
            fixture.store.awaitAccepted(before + 1);
            assertThat(other.call("PING")).isEqualTo("+PONG");
            assertThat(waiter.hasInput()).isFalse();
            fixture.store.release();
            assertThat(waiter.read()).isEqualTo("[$k, $a]");
            assertThat(client.read()).isEqualTo(":1");

            client.call("RPUSH", "k", "b");
            before = fixture.store.accepted();
            fixture.store.hold();
            waiter.send("BLPOP", "k", "0");
            fixture.store.awaitAccepted(before + 1);
            assertThat(other.call("PING")).isEqualTo("+PONG");
            assertThat(waiter.hasInput()).isFalse();
            fixture.store.release();
            assertThat(waiter.read()).isEqualTo("[$k, $b]");
        }
    }

    @Test
    void pipelinedCommandsWaitForBlockedPop() throws IOException {
        try (RespClient waiter = fixture.connect()) {
            waiter.send("BLPOP", "k", "0");
            waiter.send("RPUSH", "k", "own");
            waiter.send("LLEN", "k");
            waiter.send("BLPOP", "k", "0");
            awaitWaiting(1);
            replies(":0", "LLEN", "k");
            client.call("RPUSH", "k", "a");
            waiter.reads("[$k, $a]", ":1", ":1", "[$k, $own]");
        }
    }

    @Test
    void doesNotBlockInTransaction() throws IOException {
        client.call("RPUSH", "k", "a");
        replies("+OK", "MULTI");
        replies("+QUEUED", "BLPOP", "j", "k", "0");
        replies("+QUEUED", "BLPOP", "j", "k", "0");
        replies("+QUEUED", "RPUSH", "j", "b");
        replies("+QUEUED", "BLPOP", "j", "k", "0");
        replies("[[$k, $a], nullarray, :1, [$j, $b]]", "EXEC");
        assertThat(waiting()).isZero();
    }

    @Test
    void servesMoreWaitersThanThreads() throws IOException {
        List<RespClient> waiters = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            waiters.add(waitFor("k" + i % 5, "other"));
        }
        replies(":0", "LLEN", "k0");
        for (int i = 0; i < 50; i++) {
            client.call("RPUSH", "k" + i % 5, "v" + i);
        }
        for (int i = 0; i < 50; i++) {
            assertThat(waiters.get(i).read()).isEqualTo("[$k" + i % 5 + ", $v" + i + "]");
            waiters.get(i).close();
        }
        awaitWaiting(0);
        assertThat(fixture.documents.tailedDocuments()).isZero();
    }

    @Test
    void waitsForSpaceWithoutBlockingThread() throws Exception {
        List<RespClient> waiters = new ArrayList<>();
        client.call("RPUSH", "k", "a", "b", "c");
        fixture.store.takeSpace();
        for (int i = 0; i < 3; i++) {
            RespClient waiter = fixture.connect();
            sendPop(waiter, "0", "k");
            awaitWaiting(i + 1);
            waiters.add(waiter);
        }
        fixture.store.awaitWaiter();
        replies(":3", "LLEN", "k");
        fixture.store.freeSpace();
        for (int i = 0; i < 3; i++) {
            assertThat(waiters.get(i).read()).isEqualTo("[$k, $" + "abc".charAt(i) + "]");
            waiters.get(i).close();
        }
    }

    @Test
    void limitsNumberOfNames() throws IOException {
        String[] names = IntStream.range(0, 1_024).mapToObj(i -> "n" + i).toArray(String[]::new);
        String[] more = Arrays.copyOf(names, 1_025);
        more[1_024] = "more";
        sendPop(client, "0", more);
        assertThat(client.read()).isEqualTo("-ERR BLPOP accepts at most 1024 names, not 1025");
        Arrays.fill(more, "same");
        sendPop(client, "0", more);
        assertThat(client.read()).isEqualTo("-ERR BLPOP accepts at most 1024 names, not 1025");
        List<RespClient> waiters = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            waiters.add(waitFor(names));
        }
        waiters.get(0).close();
        awaitWaiting(3 * 1_024);
        replies("nullarray", "BLPOP", "k", "0.01");
        for (RespClient waiter : waiters) {
            waiter.close();
        }
        awaitWaiting(0);
    }

    /** Three clients, one of which often times out, must together pop each value exactly once. */
    @Test
    void concurrentPopsTakeEachValueOnce() throws Exception {
        int values = 2_000;
        List<String> taken = Collections.synchronizedList(new ArrayList<>());
        List<Thread> takers = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            String timeout = i == 0 ? "0.001" : "20";
            Thread taker = new Thread(() -> takeAll(taken, values, timeout));
            taker.start();
            takers.add(taker);
        }
        for (int i = 0; i < values; i++) {
            client.call("RPUSH", i % 2 == 0 ? "even" : "odd", Integer.toString(i));
        }
        Eventually.await("all are taken", () -> taken.size() >= values);
        client.call("RPUSH", "even", "end", "end", "end");
        for (Thread taker : takers) {
            taker.join();
        }
        assertThat(taken).hasSize(values).doesNotHaveDuplicates();
    }

    private void takeAll(List<String> taken, int values, String timeout) {
        try (RespClient taker = fixture.connect()) {
            String reply = "";
            while (!reply.equals("[$even, $end]")) {
                reply = taker.call("BLPOP", "odd", "even", timeout);
                if (!reply.equals("nullarray") && !reply.equals("[$even, $end]")) {
                    taken.add(reply);
                }
            }
        } catch (IOException problem) {
            throw new AssertionError(problem);
        }
    }
}
