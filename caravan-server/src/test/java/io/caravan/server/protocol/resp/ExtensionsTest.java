package io.caravan.server.protocol.resp;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.server.app.TestDocuments;
import io.caravan.server.document.DocumentAttributes;
import java.io.IOException;
import org.junit.jupiter.api.Test;

/** Tests the {@code CARAVAN.} commands that use sequences. */
class ExtensionsTest extends RespTestBase {

    @Test
    void appendsOnlyAtExpectedSequence() throws IOException {
        replies(":0", "CARAVAN.APPEND", "k", "IFSEQ", "0", "a", "b");
        replies("-CONFLICT expected 0 actual 2", "CARAVAN.APPEND", "k", "IFSEQ", "0", "c");
        replies("-CONFLICT expected 3 actual 2", "caravan.append", "k", "ifseq", "3", "c");
        replies(":2", "CARAVAN.APPEND", "k", "IFSEQ", "2", "c");
        replies("-CONFLICT expected 1 actual 0", "CARAVAN.APPEND", "absent", "IFSEQ", "1", "c");
        replies(":0", "EXISTS", "absent");
        fails("ERR syntax error", "CARAVAN.APPEND", "k", "IF", "2", "c");
        fails("ERR value is not an integer", "CARAVAN.APPEND", "k", "IFSEQ", "x", "c");
        fails("ERR value is out of range", "CARAVAN.APPEND", "k", "IFSEQ", "-1", "c");
    }

    @Test
    void readsBySequenceUnaffectedByTrims() throws IOException {
        client.call("RPUSH", "k", "a", "b", "c", "d");
        replies("[:4, [[:0, $a], [:1, $b], [:2, $c], [:3, $d]], :0, :1]", "CARAVAN.READ", "k", "FROM", "0");
        replies(":2", "CARAVAN.TRIM", "k", "TO", "2");
        replies(":2", "CARAVAN.TRIM", "k", "TO", "1");
        replies("[:3, [[:2, $c]], :0, :1]", "CARAVAN.READ", "k", "FROM", "2", "COUNT", "1");
        replies("[:4, [], :0, :1]", "CARAVAN.READ", "k", "FROM", "4");
        replies("[:4, [], :0, :1]", "CARAVAN.READ", "k", "FROM", "$");
        replies("[:0, [], :0, null]", "CARAVAN.READ", "absent", "FROM", "0");
        replies("-TRIMMED sequence 1 was trimmed; the first retained one is 2", "CARAVAN.READ", "k", "FROM", "1");
        fails("OUTOFRANGE sequence 5 is after the next one, 4", "CARAVAN.READ", "k", "FROM", "5");
        fails("OUTOFRANGE sequence 5 is after the next one, 0", "CARAVAN.READ", "absent", "FROM", "5");
        fails("ERR syntax error", "CARAVAN.READ", "k", "TO", "5");
        fails("ERR syntax error", "CARAVAN.READ", "k", "FROM", "4", "COUNT");
        fails("ERR syntax error", "CARAVAN.READ", "k", "FROM", "4", "NONSENSE", "1");
        fails("ERR COUNT must be 1 or more", "CARAVAN.READ", "k", "FROM", "4", "COUNT", "0");
        fails("ERR BLOCK must be at most", "CARAVAN.READ", "k", "FROM", "4", "BLOCK", "3600001");
        replies(":4", "CARAVAN.TRIM", "k", "TO", "100");
        replies("null", "CARAVAN.TRIM", "absent", "TO", "1");
        fails("ERR syntax error", "CARAVAN.TRIM", "k", "FROM", "1");
    }

    @Test
    void returnsDocumentInfoInBothProtocolVersions() throws IOException {
        client.call("RPUSH", "k", "abc", "d");
        client.call("CARAVAN.TRIM", "k", "TO", "1");
        replies(
                "[$id, :1, $first, :1, $next, :2, $values, :1, $bytes, :1, $content-type, $application/octet-stream, $closed, :0,"
                        + " $expires-at-ms, null, $ttl-seconds, null, $forks, :0, $moving-to, null, $durability, $sync]",
                "CARAVAN.INFO",
                "k");
        replies("nullarray", "CARAVAN.INFO", "absent");
        client.call("HELLO", "3");
        assertThat(client.call("CARAVAN.INFO", "k"))
                .startsWith("{$id: :1, $first: :1, ")
                .contains("$closed: #f", "$forks: :0, $moving-to: _, $durability: $sync}");
        replies("_", "CARAVAN.INFO", "absent");
        replies("[:2, [[:1, $d]], #f, :1]", "CARAVAN.READ", "k", "FROM", "1");
    }

    @Test
    void recreatedDocumentHasNewId() throws IOException {
        client.call("RPUSH", "k", "a");
        replies("[:1, [[:0, $a]], :0, :1]", "CARAVAN.READ", "k", "FROM", "0");
        client.call("DEL", "k");
        client.call("RPUSH", "k", "b", "c");
        replies("[:2, [[:1, $c]], :0, :2]", "CARAVAN.READ", "k", "FROM", "1");
        assertThat(client.call("CARAVAN.INFO", "k")).startsWith("[$id, :2, ");
    }

    private void create(String name, DocumentAttributes attributes, String... values) throws IOException {
        TestDocuments.create(fixture.documents, name, attributes);
        for (String value : values) {
            client.call("RPUSH", name, value);
        }
    }

    @Test
    void closedAndJsonDocumentsRejectInvalidAppends() throws IOException {
        create("json", DocumentAttributes.NONE.withContentType("application/json"), "{\"a\":1}");
        fails("ERR document 'json' ", "RPUSH", "json", "{");
        fails("ERR document 'json' ", "CARAVAN.APPEND", "json", "IFSEQ", "1", "no");
        replies(":2", "RPUSH", "json", "[]");
        create("closed", DocumentAttributes.NONE, "last");
        TestDocuments.close(fixture.documents, "closed");
        fails("CLOSED document 'closed' is closed", "RPUSH", "closed", "v");
        fails("CLOSED document 'closed' is closed", "CARAVAN.APPEND", "closed", "IFSEQ", "1", "v");
        replies("[:1, [[:0, $last]], :1, :2]", "CARAVAN.READ", "closed", "FROM", "0", "BLOCK", "60000");
        replies("[:1, [], :1, :2]", "CARAVAN.READ", "closed", "FROM", "1", "BLOCK", "60000");
        assertThat(client.call("CARAVAN.INFO", "closed")).contains("$closed, :1");
        replies("+OK", "LTRIM", "closed", "1", "-1");
        replies(":0", "DEL", "closed");
        replies(":1", "RPUSH", "closed", "again");
    }

    @Test
    void deletedForkSourceRejectsAccess() throws IOException {
        client.call("RPUSH", "source", "a", "b", "c");
        TestDocuments.fork(fixture.documents, "source", "fork", 2);
        replies("[$a, $b]", "LRANGE", "fork", "0", "-1");
        fails("FORKED document 'source' cannot be trimmed", "LPOP", "source");
        replies(":1", "DEL", "source");
        fails("GONE document 'source' is deleted", "RPUSH", "source", "v");
        fails("GONE", "LRANGE", "source", "0", "-1");
        fails("GONE", "CARAVAN.READ", "source", "FROM", "0", "BLOCK", "10");
        replies(":0", "EXISTS", "source");
        replies("+none", "TYPE", "source");
        replies(":0", "DEL", "source");
        replies(":1", "DEL", "fork");
        replies(":1", "RPUSH", "source", "v");
    }
}
