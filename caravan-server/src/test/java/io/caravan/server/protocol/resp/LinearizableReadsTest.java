package io.caravan.server.protocol.resp;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.server.document.HeldBarrier;
import io.caravan.server.document.ReadBarrier;
import io.caravan.testing.Eventually;
import java.io.IOException;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Linearizable reads over RESP: a reply about a document must wait until the node has confirmed that it leads. */
final class LinearizableReadsTest extends RespTestBase {
    private static final String WHY = "no majority has answered";
    /** Every command with the flag {@code readonly}, and write commands that change nothing or are rejected. */
    private static final List<String> LOOKING = List.of("""
        LRANGE a 0 -1, LINDEX a 0, LLEN a, EXISTS a, TYPE a, TTL a, PTTL a, MEMORY USAGE a, OBJECT ENCODING a,
        SCAN 0, KEYS *, DBSIZE, CARAVAN.READ a FROM 0, CARAVAN.READ a FROM 1 BLOCK 1, CARAVAN.INFO a,
        CARAVAN.EXPORT a, BLPOP absent 0.001, RPUSHX absent v, LTRIM absent 0 -1, LTRIM a 0 -1, LTRIM a 0 0,
        LPOP absent, DEL absent, PERSIST a, CARAVAN.APPEND a IFSEQ 7 v\
        """.split(",\\s+"));

    private final HeldBarrier held = new HeldBarrier();

    private void awaitAsked() {
        Eventually.await("the barrier is asked", () -> held.asked() == 1);
    }

    private void fill() throws IOException {
        answers(":2", "RPUSH", "a", "one", "two");
    }

    @Test
    void nothingThatTellsOfADocumentIsAnsweredUnlessItsHostLeadsForSure() throws IOException {
        fill();
        fixture.documents.readBarrier(HeldBarrier.refusing(WHY));
        for (String command : LOOKING) {
            assertThat(client.call(command.split(" "))).as(command).isEqualTo("-CLUSTERDOWN " + WHY);
        }
        fixture.documents.readBarrier(ReadBarrier.NONE);
        answers(":2", "LLEN", "a");
    }

    @Test
    void everyCommandThatReadsIsAmongThem() throws IOException {
        Pattern entry = Pattern.compile("\\[\\$([a-z.]+), :-?[0-9]+, \\[([^\\]]*)\\]");
        List<String> reading = entry.matcher(client.call("COMMAND"))
                .results()
                .filter(found -> found.group(2).contains("+readonly"))
                .map(found -> found.group(1))
                .toList();
        assertThat(reading).contains("lrange", "dbsize");
        List<String> looking = LOOKING.stream()
                .map(command -> command.split(" ")[0].toLowerCase(Locale.ROOT))
                .toList();
        assertThat(looking).containsAll(reading);
    }

    @Test
    void aTransactionThatOnlyReadsIsARead() throws IOException {
        fill();
        fixture.documents.readBarrier(HeldBarrier.refusing(WHY));
        answers("+OK", "MULTI");
        answers("+QUEUED", "LLEN", "a");
        answers("+QUEUED", "LRANGE", "a", "0", "-1");
        answers("-CLUSTERDOWN " + WHY, "EXEC");
        answers("+OK", "MULTI");
        answers("+QUEUED", "LRANGE", "a", "0", "0");
        answers("+QUEUED", "RPUSH", "a", "three");
        answers("[[$one], :3]", "EXEC");
    }

    /** The store writes nothing for this trim, so the write itself needs no confirmation by a quorum. */
    @Test
    void aTrimOfWhatIsEmptyAlreadyIsARead() throws IOException {
        fill();
        answers("+OK", "LTRIM", "a", "2", "-1");
        answers(":2", "CARAVAN.TRIM", "a", "TO", "2");
        fixture.documents.readBarrier(HeldBarrier.refusing(WHY));
        answers("-CLUSTERDOWN " + WHY, "CARAVAN.TRIM", "a", "TO", "7");
    }

    @Test
    void whatChangesSomethingAsksNobody() throws IOException {
        fixture.documents.readBarrier(held.barrier());
        fill();
        answers("$one", "LPOP", "a");
        answers(":1", "EXPIRE", "a", "100");
        answers("+OK", "LTRIM", "a", "1", "-1");
        answers("+PONG", "PING");
        assertThat(held.asked()).isZero();
    }

    @Test
    void readsThatWaitKeepTheirOrderAndNobodyElseWaits() throws IOException {
        fill();
        fixture.documents.readBarrier(held.barrier());
        client.send("RPUSH", "a", "three");
        client.send("LLEN", "a");
        client.send("EXISTS", "a");
        client.send("RPUSH", "a", "four");
        client.send("RPUSHX", "absent", "v");
        client.send("PING");
        assertThat(client.read()).isEqualTo(":3");
        awaitAsked();
        try (RespClient other = fixture.connect()) {
            assertThat(other.call("RPUSH", "b", "v")).isEqualTo(":1");
        }
        assertThat(client.hasInput()).isFalse();
        held.pass();
        assertThat(client.read()).isEqualTo(":3");
        awaitAsked();
        held.pass();
        client.reads(":1", ":4");
        awaitAsked();
        assertThat(client.hasInput()).isFalse();
        held.refuse(WHY);
        client.reads("-CLUSTERDOWN " + WHY, "+PONG");
    }

    /** Later values have been committed, so they are not stale. */
    @Test
    void aReadThatWaitsForAValueAsksOnce() throws IOException {
        fill();
        fixture.documents.readBarrier(held.barrier());
        try (RespClient other = fixture.connect()) {
            client.send("CARAVAN.READ", "a", "FROM", "2", "BLOCK", "60000");
            awaitAsked();
            held.pass();
            assertThat(other.call("RPUSH", "a", "three")).isEqualTo(":3");
            assertThat(client.read()).contains("$three");
            client.send("BLPOP", "b", "60");
            awaitAsked();
            held.pass();
            assertThat(other.call("RPUSH", "b", "four")).isEqualTo(":1");
            assertThat(client.read()).isEqualTo("[$b, $four]");
        }
        assertThat(held.asked()).isZero();
    }

    @Test
    void aPopThatTakesNothingInATransactionIsARead() throws IOException {
        fill();
        fixture.documents.readBarrier(held.barrier());
        client.send("MULTI");
        client.send("BLPOP", "absent", "1");
        client.send("EXEC");
        client.reads("+OK", "+QUEUED");
        awaitAsked();
        held.refuse(WHY);
        assertThat(client.read()).isEqualTo("-CLUSTERDOWN " + WHY);
    }
}
