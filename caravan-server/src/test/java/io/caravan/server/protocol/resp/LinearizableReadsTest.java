package io.caravan.server.protocol.resp;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.server.document.DelayedBarrier;
import io.caravan.server.document.ReadBarrier;
import io.caravan.testing.Eventually;
import java.io.IOException;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Tests that a reply about a document waits until the node has confirmed that it is the leader. */
final class LinearizableReadsTest extends RespTestBase {
    private static final String WHY = "no majority has responded";
    /** Every {@code readonly} command, and write commands that change nothing in this test or are rejected. */
    private static final List<String> NON_MUTATING_COMMANDS = List.of("""
        LRANGE a 0 -1, LINDEX a 0, LLEN a, EXISTS a, TYPE a, TTL a, PTTL a, MEMORY USAGE a, OBJECT ENCODING a,
        SCAN 0, KEYS *, DBSIZE, CARAVAN.READ a FROM 0, CARAVAN.READ a FROM 1 BLOCK 1, CARAVAN.INFO a,
        CARAVAN.EXPORT a, BLPOP absent 0.001, RPUSHX absent v, LTRIM absent 0 -1, LTRIM a 0 -1, LTRIM a 0 0,
        LPOP absent, DEL absent, PERSIST a, CARAVAN.APPEND a IFSEQ 7 v\
        """.split(",\\s+"));

    private final DelayedBarrier delayedBarrier = new DelayedBarrier();

    private void awaitBarrierRequest() {
        Eventually.await("a read waits at the barrier", () -> delayedBarrier.asked() == 1);
    }

    private void fill() throws IOException {
        replies(":2", "RPUSH", "a", "one", "two");
    }

    @Test
    void rejectsReadsWithoutConfirmedLeadership() throws IOException {
        fill();
        fixture.documents.readBarrier(DelayedBarrier.rejecting(WHY));
        for (String command : NON_MUTATING_COMMANDS) {
            assertThat(client.call(command.split(" "))).as(command).isEqualTo("-CLUSTERDOWN " + WHY);
        }
        fixture.documents.readBarrier(ReadBarrier.NONE);
        replies(":2", "LLEN", "a");
    }

    @Test
    void testedCommandsIncludeEveryReadonlyCommand() throws IOException {
        Pattern entry = Pattern.compile("\\[\\$([a-z.]+), :-?[0-9]+, \\[([^\\]]*)\\]");
        List<String> reading = entry.matcher(client.call("COMMAND"))
                .results()
                .filter(found -> found.group(2).contains("+readonly"))
                .map(found -> found.group(1))
                .toList();
        assertThat(reading).contains("lrange", "dbsize");
        List<String> nonMutating = NON_MUTATING_COMMANDS.stream()
                .map(command -> command.split(" ")[0].toLowerCase(Locale.ROOT))
                .toList();
        assertThat(nonMutating).containsAll(reading);
    }

    @Test
    void onlyReadOnlyTransactionsRequireConfirmation() throws IOException {
        fill();
        fixture.documents.readBarrier(DelayedBarrier.rejecting(WHY));
        replies("+OK", "MULTI");
        replies("+QUEUED", "LLEN", "a");
        replies("+QUEUED", "LRANGE", "a", "0", "-1");
        replies("-CLUSTERDOWN " + WHY, "EXEC");
        replies("+OK", "MULTI");
        replies("+QUEUED", "LRANGE", "a", "0", "0");
        replies("+QUEUED", "RPUSH", "a", "three");
        replies("[[$one], :3]", "EXEC");
    }

    /** A trim of an empty document must also require confirmation, although the store writes nothing to replicate. */
    @Test
    void trimOfEmptyDocumentRequiresConfirmation() throws IOException {
        fill();
        replies("+OK", "LTRIM", "a", "2", "-1");
        replies(":2", "CARAVAN.TRIM", "a", "TO", "2");
        fixture.documents.readBarrier(DelayedBarrier.rejecting(WHY));
        replies("-CLUSTERDOWN " + WHY, "CARAVAN.TRIM", "a", "TO", "7");
    }

    @Test
    void writesRequireNoConfirmation() throws IOException {
        fixture.documents.readBarrier(delayedBarrier.barrier());
        fill();
        replies("$one", "LPOP", "a");
        replies(":1", "EXPIRE", "a", "100");
        replies("+OK", "LTRIM", "a", "1", "-1");
        replies("+PONG", "PING");
        assertThat(delayedBarrier.asked()).isZero();
    }

    @Test
    void delayedReadsKeepOrderAndBlockNoOtherClient() throws IOException {
        fill();
        fixture.documents.readBarrier(delayedBarrier.barrier());
        client.send("RPUSH", "a", "three");
        client.send("LLEN", "a");
        client.send("EXISTS", "a");
        client.send("RPUSH", "a", "four");
        client.send("RPUSHX", "absent", "v");
        client.send("PING");
        assertThat(client.read()).isEqualTo(":3");
        awaitBarrierRequest();
        try (RespClient other = fixture.connect()) {
            assertThat(other.call("RPUSH", "b", "v")).isEqualTo(":1");
        }
        assertThat(client.hasInput()).isFalse();
        delayedBarrier.pass();
        assertThat(client.read()).isEqualTo(":3");
        awaitBarrierRequest();
        delayedBarrier.pass();
        client.reads(":1", ":4");
        awaitBarrierRequest();
        assertThat(client.hasInput()).isFalse();
        delayedBarrier.reject(WHY);
        client.reads("-CLUSTERDOWN " + WHY, "+PONG");
    }

    /** A blocking read must request confirmation only once. Later values were just committed, so they are not stale. */
    @Test
    void blockingReadRequestsConfirmationOnce() throws IOException {
        fill();
        fixture.documents.readBarrier(delayedBarrier.barrier());
        try (RespClient other = fixture.connect()) {
            client.send("CARAVAN.READ", "a", "FROM", "2", "BLOCK", "60000");
            awaitBarrierRequest();
            delayedBarrier.pass();
            assertThat(other.call("RPUSH", "a", "three")).isEqualTo(":3");
            assertThat(client.read()).contains("$three");
            client.send("BLPOP", "b", "60");
            awaitBarrierRequest();
            delayedBarrier.pass();
            assertThat(other.call("RPUSH", "b", "four")).isEqualTo(":1");
            assertThat(client.read()).isEqualTo("[$b, $four]");
        }
        assertThat(delayedBarrier.asked()).isZero();
    }

    @Test
    void emptyPopInTransactionRequiresConfirmation() throws IOException {
        fill();
        fixture.documents.readBarrier(delayedBarrier.barrier());
        client.send("MULTI");
        client.send("BLPOP", "absent", "1");
        client.send("EXEC");
        client.reads("+OK", "+QUEUED");
        awaitBarrierRequest();
        delayedBarrier.reject(WHY);
        assertThat(client.read()).isEqualTo("-CLUSTERDOWN " + WHY);
    }
}
