package io.caravan.server.protocol.resp;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.server.app.TestDocuments;
import io.caravan.server.document.DocumentAttributes;
import io.caravan.testing.Seeds;
import java.io.IOException;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Tests commands about the names, types, and expiry of documents. */
class KeysTest extends RespTestBase {

    /** Creates a document without values, as an HTTP client can. */
    private void createEmpty(String name) {
        TestDocuments.create(fixture.documents, name, DocumentAttributes.NONE.withContentType("text/plain"));
    }

    @Test
    void returnsTypeAndExistence() throws IOException {
        client.call("RPUSH", "k", "v");
        replies("+list", "TYPE", "k");
        replies("+none", "TYPE", "absent");
        replies(":2", "EXISTS", "k", "absent", "k");
        replies(":1", "DBSIZE");
        replies(":1", "UNLINK", "k", "absent");
        replies(":0", "DBSIZE");
    }

    @Test
    void limitsDocumentsPerCommand() throws IOException {
        for (String command : new String[] {"DEL", "UNLINK", "EXISTS"}) {
            replies(":0", words(16_385, "k", command));
            fails("ERR " + command + " accepts at most 16384 documents at a time", words(16_386, "k", command));
        }
    }

    private static String[] words(int count, String rest, String... first) {
        String[] words = new String[count];
        Arrays.fill(words, rest);
        System.arraycopy(first, 0, words, 0, first.length);
        return words;
    }

    /** The last occurrence of a frequently repeated option must apply. An earlier version overflowed the stack. */
    @Test
    void lastRepeatedOptionApplies() throws IOException {
        client.call("RPUSH", "a", "v");
        client.call("RPUSH", "b", "v");
        replies("[$0, [$b]]", "SCAN", "0", "COUNT", "5000", "MATCH", "a", "MATCH", "b");
        replies("[$0, [$a]]", "SCAN", "0", "COUNT", "5000", "TYPE", "x", "MATCH", "a", "TYPE", "list");
        String[] scan = words(200_004, "MATCH", "SCAN", "0", "COUNT", "5000");
        for (int i = 5; i < scan.length; i += 2) {
            scan[i] = "a";
        }
        replies("[$0, [$a]]", scan);
    }

    @Test
    void emptyDocumentIsListedButDoesNotExist() throws IOException {
        createEmpty("empty");
        replies("+none", "TYPE", "empty");
        replies(":0", "EXISTS", "empty");
        replies(":-2", "TTL", "empty");
        replies(":0", "EXPIRE", "empty", "100");
        replies(":0", "RPUSHX", "empty", "v");
        replies("null", "LPOP", "empty");
        replies(":1", "DBSIZE");
        replies("[$empty]", "KEYS", "*");
        replies("[$0, [$empty]]", "SCAN", "0", "COUNT", "2000");
        replies("[$0, []]", "SCAN", "0", "COUNT", "2000", "TYPE", "list");
        assertThat(client.call("CARAVAN.INFO", "empty")).contains("$next, :0", "$content-type, $text/plain");
        replies(":0", "DEL", "empty");
        replies(":0", "DBSIZE");
    }

    @Test
    void scanReturnsEveryPermanentDocumentOnce() throws IOException {
        for (int i = 0; i < 1_000; i++) {
            client.call("RPUSH", "stays:" + i, "v");
        }
        Seeds.forEach(3, seed -> scanDuringConcurrentChanges(new Random(seed)));
    }

    private void scanDuringConcurrentChanges(Random random) throws IOException {
        Set<String> found = new HashSet<>();
        String cursor = "0";
        do {
            client.call("RPUSH", "comes:" + random.nextInt(50), "v");
            client.call("DEL", "comes:" + random.nextInt(50));
            int count = 1 + random.nextInt(100);
            String page = client.call("SCAN", cursor, "COUNT", Integer.toString(count), "MATCH", "s*");
            assertThat(page.split("stays", -1)).hasSizeLessThanOrEqualTo(1 + count);
            Matcher next = Pattern.compile("\\[\\$([0-9]+), \\[(.*)]]").matcher(page);
            assertThat(next.matches()).isTrue();
            for (String name : next.group(2).split(", ")) {
                assertThat(name.isEmpty() || found.add(name))
                        .as("reported twice: " + name)
                        .isTrue();
            }
            cursor = next.group(1);
        } while (!cursor.equals("0"));
        Set<String> expected = new TreeSet<>();
        for (int i = 0; i < 1_000; i++) {
            expected.add("$stays:" + i);
        }
        found.remove("");
        assertThat(found).isEqualTo(expected);
    }

    @Test
    void scanAndKeysRejectInvalidRequests() throws IOException {
        fails("ERR invalid cursor", "SCAN", "x");
        fails("ERR invalid cursor", "SCAN", "+1");
        fails("ERR invalid cursor", "SCAN", "-1");
        fails("ERR invalid cursor", "SCAN", "18446744073709551616");
        fails("ERR syntax error", "SCAN", "0", "MATCH");
        fails("ERR syntax error", "SCAN", "0", "COUNT", "0");
        fails("ERR syntax error", "SCAN", "0", "NONSENSE", "1");
        fails("ERR a pattern has at most", "KEYS", "*".repeat(5_000));
        for (int i = 0; i < 10_001; i++) {
            client.send("RPUSH", "k" + i, "v");
        }
        for (int i = 0; i < 10_001; i++) {
            assertThat(client.read()).isEqualTo(":1");
        }
        fails("ERR more than 10000 documents match; use SCAN", "KEYS", "*");
        replies("[$k77]", "KEYS", "k7[7]");
    }

    @Test
    void documentsExpireAfterTimeToLive() throws IOException {
        client.call("RPUSH", "k", "v");
        replies(":-1", "TTL", "k");
        replies(":1", "EXPIRE", "k", "100");
        replies(":100", "TTL", "k");
        assertThat(Long.parseLong(client.call("PTTL", "k").substring(1))).isBetween(90_000L, 100_000L);
        fixture.aheadMillis.set(TimeUnit.SECONDS.toMillis(101));
        replies(":0", "EXISTS", "k");
        replies(":-2", "TTL", "k");
        replies("[]", "LRANGE", "k", "0", "-1");
        replies(":1", "RPUSH", "k", "new");
        replies(":-1", "TTL", "k");
    }

    @Test
    void expireSupportsConditions() throws IOException {
        client.call("RPUSH", "k", "v");
        replies(":0", "EXPIRE", "k", "100", "XX");
        replies(":0", "EXPIRE", "k", "100", "GT");
        replies(":1", "EXPIRE", "k", "100", "NX");
        replies(":0", "EXPIRE", "k", "100", "NX");
        replies(":0", "EXPIRE", "k", "50", "GT");
        replies(":0", "PEXPIRE", "k", "200000", "LT");
        replies(":1", "PEXPIRE", "k", "200000", "GT");
        replies(":1", "PERSIST", "k");
        replies(":0", "PERSIST", "k");
        replies(":0", "PERSIST", "absent");
        replies(":0", "EXPIRE", "absent", "1");
        fails("ERR NX and XX, GT or LT options", "EXPIRE", "k", "1", "NX", "GT");
        fails("ERR GT and LT options", "EXPIRE", "k", "1", "LT", "GT");
        fails("ERR Unsupported option ZZ", "EXPIRE", "k", "1", "ZZ");
        fails("ERR invalid expire time in 'expire' command", "EXPIRE", "k", "9223372036854775807");
        replies(":1", "EXPIREAT", "k", "1");
        replies(":0", "EXISTS", "k");
        client.call("RPUSH", "k", "v");
        replies(":1", "PEXPIREAT", "k", "32503680000000");
        replies(":1", "PERSIST", "k");
        replies(":-1", "TTL", "k");
    }

    @Test
    void emptyingDocumentRemovesExpiry() throws IOException {
        client.call("RPUSH", "k", "v");
        client.call("EXPIRE", "k", "100");
        replies("$v", "LPOP", "k");
        replies(":1", "RPUSH", "k", "w");
        replies(":-1", "TTL", "k");
        client.call("EXPIRE", "k", "100");
        replies("+OK", "LTRIM", "k", "5", "9");
        replies(":1", "RPUSH", "k", "x");
        replies(":-1", "TTL", "k");
    }
}
