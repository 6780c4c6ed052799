package io.caravan.server.protocol.resp;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.server.document.ImportStep;
import java.io.IOException;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Tests the RESP commands that import and export documents with their sequences and attributes. */
class MigrationCommandsTest extends RespTestBase {
    @Test
    void importPreservesSequencesAndAttributes() throws IOException {
        String whole = "CARAVAN.IMPORT k WHOLE 7 ATTRIBUTE content-type text/plain ATTRIBUTE ttl 3600 VALUES a b";
        replies(":9", whole.split(" "));
        replies("[:9, [[:7, $a], [:8, $b]], :0, :1]", "CARAVAN.READ", "k", "FROM", "7");
        exports("$id, :1, $first, :7, $next, :9, $bytes, :2", "$content-type, $text/plain, $ttl, :3600");
        replies(":9", "CARAVAN.APPEND", "k", "IFSEQ", "9", "c");
        replies("nullarray", "CARAVAN.EXPORT", "absent");
    }

    @Test
    void importPreservesClosedAndProducerState() throws IOException {
        String producers = "\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\5\0\1p";
        String whole = "CARAVAN.IMPORT k WHOLE 1 ATTRIBUTE closed p ATTRIBUTE stream-seq z ATTRIBUTE producers ";
        client.call((whole + producers + " VALUES a").split(" "));
        assertThat(client.call("CARAVAN.EXPORT", "k"))
                .contains("[$closed, $p, $producers, $" + producers + ", $stream-seq, $z]");
        fails("CLOSED", "RPUSH", "k", "b");
    }

    @Test
    void importReplacesExistingDocumentOnlyWithReplace() throws IOException {
        client.call("RPUSH", "k", "old");
        replies("-EXISTS document 'k' exists, and is not replaced", "CARAVAN.IMPORT", "k", "WHOLE", "0", "VALUES", "a");
        fails("EXISTS", "CARAVAN.IMPORT", "k", "BEGIN", "0");
        replies("[$old]", "LRANGE", "k", "0", "-1");
        replies(":4", "CARAVAN.IMPORT", "k", "WHOLE", "3", "REPLACE", "VALUES", "new");
        replies("[$new]", "LRANGE", "k", "0", "-1");
        replies(":5", "CARAVAN.IMPORT", "k", "WHOLE", "5", "REPLACE");
        replies(":5", "CARAVAN.APPEND", "k", "IFSEQ", "5", "on");
    }

    @Test
    void chunkedImportIsVisibleOnlyAfterEnd() throws IOException {
        String id = begin("k", "10");
        replies(":12", "CARAVAN.IMPORT", "k", "ADD", id, "10", "a", "b");
        fails("CONFLICT", "CARAVAN.IMPORT", "k", "ADD", id, "10", "a", "b");
        fails("RESTORING", "RPUSH", "k", "c");
        fails("RESTORING document 'k' is being imported", "CARAVAN.READ", "k", "FROM", "0");
        replies(":13", "CARAVAN.IMPORT", "k", "ADD", id, "12", "c");
        fails("CONFLICT", "CARAVAN.IMPORT", "k", "END", id, "12");
        replies(":13", "CARAVAN.IMPORT", "k", "END", id, "13");
        replies("[$a, $b, $c]", "LRANGE", "k", "0", "-1");
        fails("CHANGED", "CARAVAN.IMPORT", "k", "ADD", id, "13", "d");
        fails("CHANGED", "CARAVAN.IMPORT", "k", "END", id, "13");
        replies(":0", "CARAVAN.IMPORT", "k", "ABORT", id);
        replies(":3", "LLEN", "k");
    }

    @Test
    void newerImportReplacesUnfinishedImport() throws IOException {
        String first = begin("k", "0");
        String second = begin("k", "5");
        fails("CHANGED", "CARAVAN.IMPORT", "k", "ADD", first, "0", "a");
        replies(":1", "CARAVAN.IMPORT", "k", "ABORT", second);
        replies(":1", "RPUSH", "k", "own");
        client.call("DEL", "k");
        begin("k", "0");
        replies(":1", "CARAVAN.IMPORT", "k", "WHOLE", "0", "VALUES", "a");
        replies("[$a]", "LRANGE", "k", "0", "-1");
    }

    private String begin(String name, String first) throws IOException {
        String reply = client.call("CARAVAN.IMPORT", name, "BEGIN", first, "ATTRIBUTE", "content-type", "text/plain");
        assertThat(reply).startsWith(":");
        return reply.substring(1);
    }

    @Test
    void jsonDocumentRejectsInvalidJson() throws IOException {
        String[] json = {"ATTRIBUTE", "content-type", "application/json"};
        fails("ERR", "CARAVAN.IMPORT", "k", "WHOLE", "0", json[0], json[1], json[2], "VALUES", "{");
        replies(":1", "CARAVAN.IMPORT", "k", "WHOLE", "0", json[0], json[1], json[2], "VALUES", "{}");
        String id = client.call("CARAVAN.IMPORT", "l", "BEGIN", "0", json[0], json[1], json[2])
                .substring(1);
        fails("ERR", "CARAVAN.IMPORT", "l", "ADD", id, "0", "no");
        replies(":1", "CARAVAN.IMPORT", "l", "ADD", id, "0", "[1]");
    }

    @Test
    void rejectsInvalidImportArguments() throws IOException {
        fails("ERR syntax error", "CARAVAN.IMPORT", "k", "NONSENSE", "0");
        fails("ERR syntax error", "CARAVAN.IMPORT", "k", "WHOLE", "0", "a");
        fails("ERR syntax error", "CARAVAN.IMPORT", "k", "BEGIN", "0", "VALUES", "a");
        fails("ERR syntax error", "CARAVAN.IMPORT", "k", "ADD", "0", "0");
        fails("ERR syntax error", "CARAVAN.IMPORT", "k", "END", "0");
        fails("ERR value is out of range", "CARAVAN.IMPORT", "k", "WHOLE", "-1");
        String tooGreat = Long.toString(ImportStep.MAX_FIRST_SEQUENCE + 1);
        fails("ERR the first sequence must be from 0 to", "CARAVAN.IMPORT", "k", "WHOLE", tooGreat);
        assertAttributeRejected("this server knows no attribute 'start'", "start", "1");
        assertAttributeRejected("the attribute 'ttl' must be a number", "ttl", "x");
        assertAttributeRejected("the attribute 'expires' must be a number", "expires", "-1");
        assertAttributeRejected("the attribute 'producers' is cut off", "producers", "\0\0\0");
        assertAttributeRejected("the attribute 'producers' is longer than 8192 bytes", "producers", "\0".repeat(8193));
        assertAttributeRejected("a content type must have", "content-type", "a\nb");
        replies(":0", "DBSIZE");
    }

    /** Checks the exported metadata of document k. Its identity starts with the store's identity, which is random. */
    private void exports(String range, String attributes) throws IOException {
        assertThat(client.call("CARAVAN.EXPORT", "k"))
                .matches(Pattern.quote("[" + range + ", $moving, :0, $identity, $") + "[0-9a-f-]{36}/1"
                        + Pattern.quote(", $origin, null, $copied-to, null, $attributes, [" + attributes + "]]"));
    }

    private void assertAttributeRejected(String problem, String name, String value) throws IOException {
        fails("ERR " + problem, "CARAVAN.IMPORT", "k", "WHOLE", "0", "ATTRIBUTE", name, value);
    }

    @Test
    void continuesAndDeletesImportedDocument() throws IOException {
        client.call("CARAVAN.IMPORT", "k", "WHOLE", "7", "VALUES", "a");
        replies(":10", "CARAVAN.IMPORT", "k", "CONTINUE", "1", "8", "8", "ATTRIBUTE", "ttl", "60", "VALUES", "b", "c");
        exports("$id, :1, $first, :8, $next, :10, $bytes, :2", "$ttl, :60");
        fails("CONFLICT", "CARAVAN.IMPORT", "k", "CONTINUE", "1", "8", "8");
        fails("CHANGED", "CARAVAN.IMPORT", "k", "CONTINUE", "2", "10", "8");
        fails("ERR", "CARAVAN.IMPORT", "k", "CONTINUE", "1", "10");
        replies(":0", "CARAVAN.IMPORT", "k", "DELETE", "2");
        replies(":1", "CARAVAN.IMPORT", "k", "DELETE", "1");
        replies("nullarray", "CARAVAN.EXPORT", "k");
    }

    @Test
    void migratingDocumentRejectsWritesThenRedirects() throws IOException {
        client.call("RPUSH", "k", "a", "b");
        replies("[$id, :1, $first, :0, $next, :2]", "CARAVAN.MOVE", "k", "FENCE", "5", "other:6380 http://other:4437");
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
        replies("[]", "LRANGE", "other", "0", "-1");
        replies("[$a, $b]", "LRANGE", "k", "0", "-1");
        assertThat(client.call("CARAVAN.INFO", "k")).contains("$moving-to, $other:6380 (http://other:4437)");
        replies(":0", "CARAVAN.MOVE", "k", "ABANDON", "4");
        replies(":1", "CARAVAN.MOVE", "k", "ABANDON");
        replies(":3", "RPUSH", "k", "c");
        fails("CHANGED", "CARAVAN.MOVE", "k", "REDIRECT", "5");
        client.call("CARAVAN.MOVE", "k", "FENCE", "6", "other:6380 http://other:4437");
        replies("$other:6380 http://other:4437", "CARAVAN.MOVE", "k", "REDIRECT", "6");
        for (String any : new String[] {
            "LRANGE k 0 -1", "RPUSH k a", "EXISTS k", "CARAVAN.READ k FROM 0", "LLEN k", "CARAVAN.IMPORT k DELETE 9"
        }) {
            fails("RELOCATED other:6380 document 'k' has been moved to other:6380", any.split(" "));
        }
        replies("[$0, []]", "SCAN", "0");
        replies(":1", "CARAVAN.MOVE", "k", "FORGET");
        replies(":1", "RPUSH", "k", "a");
        fails("ERR", "CARAVAN.MOVE", "k", "FENCE", "6", "nowhere");
        fails("ERR", "CARAVAN.MOVE", "k", "LIFT");
    }
}
