package io.caravan.server.protocol.resp;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.server.document.DocumentImport;
import java.io.IOException;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The import and export of documents with their sequences and attributes. */
class MigrationCommandsTest extends RespTestBase {
    @Test
    void aDocumentComesWholeWithItsSequencesAndAttributes() throws IOException {
        String whole = "CARAVAN.IMPORT k WHOLE 7 ATTRIBUTE content-type text/plain ATTRIBUTE ttl 3600 VALUES a b";
        answers(":9", whole.split(" "));
        answers("[:9, [[:7, $a], [:8, $b]], :0, :1]", "CARAVAN.READ", "k", "FROM", "7");
        exports("$id, :1, $first, :7, $next, :9, $bytes, :2", "$content-type, $text/plain, $ttl, :3600");
        answers(":9", "CARAVAN.APPEND", "k", "IFSEQ", "9", "c");
        answers("nullarray", "CARAVAN.EXPORT", "absent");
    }

    @Test
    void aClosedDocumentOfAProducerStaysWhatItWas() throws IOException {
        String producers = "\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\5\0\1p";
        String whole = "CARAVAN.IMPORT k WHOLE 1 ATTRIBUTE closed p ATTRIBUTE stream-seq z ATTRIBUTE producers ";
        client.call((whole + producers + " VALUES a").split(" "));
        assertThat(client.call("CARAVAN.EXPORT", "k"))
                .contains("[$closed, $p, $producers, $" + producers + ", $stream-seq, $z]");
        fails("CLOSED", "RPUSH", "k", "b");
    }

    @Test
    void whatExistsIsReplacedOnlyWhenThatIsSaid() throws IOException {
        client.call("RPUSH", "k", "old");
        answers("-EXISTS document 'k' exists, and is not replaced", "CARAVAN.IMPORT", "k", "WHOLE", "0", "VALUES", "a");
        fails("EXISTS", "CARAVAN.IMPORT", "k", "BEGIN", "0");
        answers("[$old]", "LRANGE", "k", "0", "-1");
        answers(":4", "CARAVAN.IMPORT", "k", "WHOLE", "3", "REPLACE", "VALUES", "new");
        answers("[$new]", "LRANGE", "k", "0", "-1");
        answers(":5", "CARAVAN.IMPORT", "k", "WHOLE", "5", "REPLACE");
        answers(":5", "CARAVAN.APPEND", "k", "IFSEQ", "5", "on");
    }

    @Test
    void aDocumentThatComesInPartsIsSeenWhenItIsWhole() throws IOException {
        String id = begin("k", "10");
        answers(":12", "CARAVAN.IMPORT", "k", "ADD", id, "10", "a", "b");
        fails("CONFLICT", "CARAVAN.IMPORT", "k", "ADD", id, "10", "a", "b");
        fails("RESTORING", "RPUSH", "k", "c");
        fails("RESTORING document 'k' is being imported", "CARAVAN.READ", "k", "FROM", "0");
        answers(":13", "CARAVAN.IMPORT", "k", "ADD", id, "12", "c");
        fails("CONFLICT", "CARAVAN.IMPORT", "k", "END", id, "12");
        answers(":13", "CARAVAN.IMPORT", "k", "END", id, "13");
        answers("[$a, $b, $c]", "LRANGE", "k", "0", "-1");
        fails("CHANGED", "CARAVAN.IMPORT", "k", "ADD", id, "13", "d");
        fails("CHANGED", "CARAVAN.IMPORT", "k", "END", id, "13");
        answers(":0", "CARAVAN.IMPORT", "k", "ABORT", id);
        answers(":3", "LLEN", "k");
    }

    @Test
    void whatWasNotEndedGivesWayToTheNext() throws IOException {
        String first = begin("k", "0");
        String second = begin("k", "5");
        fails("CHANGED", "CARAVAN.IMPORT", "k", "ADD", first, "0", "a");
        answers(":1", "CARAVAN.IMPORT", "k", "ABORT", second);
        answers(":1", "RPUSH", "k", "own");
        client.call("DEL", "k");
        begin("k", "0");
        answers(":1", "CARAVAN.IMPORT", "k", "WHOLE", "0", "VALUES", "a");
        answers("[$a]", "LRANGE", "k", "0", "-1");
    }

    private String begin(String name, String first) throws IOException {
        String answer = client.call("CARAVAN.IMPORT", name, "BEGIN", first, "ATTRIBUTE", "content-type", "text/plain");
        assertThat(answer).startsWith(":");
        return answer.substring(1);
    }

    @Test
    void aDocumentOfJsonTakesNothingElse() throws IOException {
        String[] json = {"ATTRIBUTE", "content-type", "application/json"};
        fails("ERR", "CARAVAN.IMPORT", "k", "WHOLE", "0", json[0], json[1], json[2], "VALUES", "{");
        answers(":1", "CARAVAN.IMPORT", "k", "WHOLE", "0", json[0], json[1], json[2], "VALUES", "{}");
        String id = client.call("CARAVAN.IMPORT", "l", "BEGIN", "0", json[0], json[1], json[2])
                .substring(1);
        fails("ERR", "CARAVAN.IMPORT", "l", "ADD", id, "0", "no");
        answers(":1", "CARAVAN.IMPORT", "l", "ADD", id, "0", "[1]");
    }

    @Test
    void whatMakesNoSenseIsRefused() throws IOException {
        fails("ERR syntax error", "CARAVAN.IMPORT", "k", "NONSENSE", "0");
        fails("ERR syntax error", "CARAVAN.IMPORT", "k", "WHOLE", "0", "a");
        fails("ERR syntax error", "CARAVAN.IMPORT", "k", "BEGIN", "0", "VALUES", "a");
        fails("ERR syntax error", "CARAVAN.IMPORT", "k", "ADD", "0", "0");
        fails("ERR syntax error", "CARAVAN.IMPORT", "k", "END", "0");
        fails("ERR value is out of range", "CARAVAN.IMPORT", "k", "WHOLE", "-1");
        String tooGreat = Long.toString(DocumentImport.MAX_FIRST_SEQUENCE + 1);
        fails("ERR the first sequence must be from 0 to", "CARAVAN.IMPORT", "k", "WHOLE", tooGreat);
        refusesAttribute("this server knows no attribute 'start'", "start", "1");
        refusesAttribute("the attribute 'ttl' must be a number", "ttl", "x");
        refusesAttribute("the attribute 'expires' must be a number", "expires", "-1");
        refusesAttribute("the attribute 'producers' is cut off", "producers", "\0\0\0");
        refusesAttribute("the attribute 'producers' is longer than 8192 bytes", "producers", "\0".repeat(8193));
        refusesAttribute("a content type must have", "content-type", "a\nb");
        answers(":0", "DBSIZE");
    }

    /** Checks the export. The identity starts with the random identity of the store. */
    private void exports(String range, String attributes) throws IOException {
        assertThat(client.call("CARAVAN.EXPORT", "k"))
                .matches(Pattern.quote("[" + range + ", $moving, :0, $identity, $") + "[0-9a-f-]{36}/1"
                        + Pattern.quote(", $origin, null, $copied-to, null, $attributes, [" + attributes + "]]"));
    }

    private void refusesAttribute(String problem, String name, String value) throws IOException {
        fails("ERR " + problem, "CARAVAN.IMPORT", "k", "WHOLE", "0", "ATTRIBUTE", name, value);
    }

    @Test
    void aDocumentThatWasBroughtGoesOn() throws IOException {
        client.call("CARAVAN.IMPORT", "k", "WHOLE", "7", "VALUES", "a");
        answers(":10", "CARAVAN.IMPORT", "k", "CONTINUE", "1", "8", "8", "ATTRIBUTE", "ttl", "60", "VALUES", "b", "c");
        exports("$id, :1, $first, :8, $next, :10, $bytes, :2", "$ttl, :60");
        fails("CONFLICT", "CARAVAN.IMPORT", "k", "CONTINUE", "1", "8", "8");
        fails("CHANGED", "CARAVAN.IMPORT", "k", "CONTINUE", "2", "10", "8");
        fails("ERR", "CARAVAN.IMPORT", "k", "CONTINUE", "1", "10");
        answers(":0", "CARAVAN.IMPORT", "k", "DELETE", "2");
        answers(":1", "CARAVAN.IMPORT", "k", "DELETE", "1");
        answers("nullarray", "CARAVAN.EXPORT", "k");
    }

    @Test
    void aDocumentThatIsMovedIsFencedThenElsewhere() throws IOException {
        client.call("RPUSH", "k", "a", "b");
        answers("[$id, :1, $first, :0, $next, :2]", "CARAVAN.MOVE", "k", "FENCE", "5", "other:6380 http://other:4437");
        String moving = "MOVING document 'k' is being moved to other:6380 (http://other:4437), and rejects writes until"
                + " the move has ended: try again in a moment";
        fails(moving, "RPUSH", "k", "c");
        for (String write : new String[] {"LPOP k", "DEL k", "LTRIM k 1 -1", "EXPIRE k 9", "CARAVAN.TRIM k TO 1"}) {
            fails("MOVING", write.split(" "));
        }
        client.call("MULTI");
        client.call("RPUSH", "other", "x");
        client.call("RPUSH", "k", "x");
        fails("MOVING", "EXEC");
        answers("[]", "LRANGE", "other", "0", "-1");
        answers("[$a, $b]", "LRANGE", "k", "0", "-1");
        assertThat(client.call("CARAVAN.INFO", "k")).contains("$moving-to, $other:6380 (http://other:4437)");
        answers(":0", "CARAVAN.MOVE", "k", "ABANDON", "4");
        answers(":1", "CARAVAN.MOVE", "k", "ABANDON");
        answers(":3", "RPUSH", "k", "c");
        fails("CHANGED", "CARAVAN.MOVE", "k", "REDIRECT", "5");
        client.call("CARAVAN.MOVE", "k", "FENCE", "6", "other:6380 http://other:4437");
        answers("$other:6380 http://other:4437", "CARAVAN.MOVE", "k", "REDIRECT", "6");
        for (String any : new String[] {"LRANGE k 0 -1", "RPUSH k a", "EXISTS k", "CARAVAN.READ k FROM 0", "LLEN k"}) {
            fails("RELOCATED other:6380 document 'k' has been moved to other:6380", any.split(" "));
        }
        answers("[$0, []]", "SCAN", "0");
        answers(":1", "CARAVAN.MOVE", "k", "FORGET");
        answers(":1", "RPUSH", "k", "a");
        fails("ERR", "CARAVAN.MOVE", "k", "FENCE", "6", "nowhere");
        fails("ERR", "CARAVAN.MOVE", "k", "LIFT");
    }
}
