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

/** Commands about documents: names, types, and expiry. */
class KeysTest extends RespTestBase {

    /** Creates a document without values, as an HTTP client can. */
    private void createEmpty(String name) {
        TestDocuments.create(fixture.documents, name, DocumentAttributes.NONE.withContentType("text/plain"));
    }

    @Test
    void typeAndExistence() throws IOException {
        client.call("RPUSH", "k", "v");
        answers("+list", "TYPE", "k");
        answers("+none", "TYPE", "absent");
        answers(":2", "EXISTS", "k", "absent", "k");
        answers(":1", "DBSIZE");
        answers(":1", "UNLINK", "k", "absent");
        answers(":0", "DBSIZE");
    }

    @Test
    void oneCommandNamesOnlySoManyDocuments() throws IOException {
        for (String command : new String[] {"DEL", "UNLINK", "EXISTS"}) {
            answers(":0", words(16_385, "k", command));
            fails("ERR " + command + " accepts at most 16384 documents at a time", words(16_386, "k", command));
        }
    }

    private static String[] words(int count, String rest, String... first) {
        String[] words = new String[count];
        Arrays.fill(words, rest);
        System.arraycopy(first, 0, words, 0, first.length);
        return words;
    }

    /** In an earlier version, each repeated option was a nested call, until the stack overflowed. */
    @Test
    void ofAnOptionThatIsGivenAgainTheLastCounts() throws IOException {
        client.call("RPUSH", "a", "v");
        client.call("RPUSH", "b", "v");
        answers("[$0, [$b]]", "SCAN", "0", "COUNT", "5000", "MATCH", "a", "MATCH", "b");
        answers("[$0, [$a]]", "SCAN", "0", "COUNT", "5000", "TYPE", "x", "MATCH", "a", "TYPE", "list");
        String[] scan = words(200_004, "MATCH", "SCAN", "0", "COUNT", "5000");
        for (int i = 5; i < scan.length; i += 2) {
            scan[i] = "a";
        }
        answers("[$0, [$a]]", scan);
    }

    @Test
    void aDocumentWithoutValuesIsListedAndDoesNotExist() throws IOException {
        createEmpty("empty");
        answers("+none", "TYPE", "empty");
        answers(":0", "EXISTS", "empty");
        answers(":-2", "TTL", "empty");
        answers(":0", "EXPIRE", "empty", "100");
        answers(":0", "RPUSHX", "empty", "v");
        answers("null", "LPOP", "empty");
        answers(":1", "DBSIZE");
        answers("[$empty]", "KEYS", "*");
        answers("[$0, [$empty]]", "SCAN", "0", "COUNT", "2000");
        answers("[$0, []]", "SCAN", "0", "COUNT", "2000", "TYPE", "list");
        assertThat(client.call("CARAVAN.INFO", "empty")).contains("$next, :0", "$content-type, $text/plain");
        answers(":0", "DEL", "empty");
        answers(":0", "DBSIZE");
    }

    @Test
    void scanTellsOfEveryDocumentThatIsThereAllTheWhile() throws IOException {
        for (int i = 0; i < 1_000; i++) {
            client.call("RPUSH", "stays:" + i, "v");
        }
        Seeds.forEach(3, seed -> scanWhileOthersComeAndGo(new Random(seed)));
    }

    private void scanWhileOthersComeAndGo(Random random) throws IOException {
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
                        .as("told twice: " + name)
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
    void scanAndKeysRefuseWhatTheyCannotDo() throws IOException {
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
        answers("[$k77]", "KEYS", "k7[7]");
    }

    @Test
    void documentsExpireWhenTheirTimeHasCome() throws IOException {
        client.call("RPUSH", "k", "v");
        answers(":-1", "TTL", "k");
        answers(":1", "EXPIRE", "k", "100");
        answers(":100", "TTL", "k");
        assertThat(Long.parseLong(client.call("PTTL", "k").substring(1))).isBetween(90_000L, 100_000L);
        fixture.aheadMillis.set(TimeUnit.SECONDS.toMillis(101));
        answers(":0", "EXISTS", "k");
        answers(":-2", "TTL", "k");
        answers("[]", "LRANGE", "k", "0", "-1");
        answers(":1", "RPUSH", "k", "new");
        answers(":-1", "TTL", "k");
    }

    @Test
    void expiryHasConditions() throws IOException {
        client.call("RPUSH", "k", "v");
        answers(":0", "EXPIRE", "k", "100", "XX");
        answers(":0", "EXPIRE", "k", "100", "GT");
        answers(":1", "EXPIRE", "k", "100", "NX");
        answers(":0", "EXPIRE", "k", "100", "NX");
        answers(":0", "EXPIRE", "k", "50", "GT");
        answers(":0", "PEXPIRE", "k", "200000", "LT");
        answers(":1", "PEXPIRE", "k", "200000", "GT");
        answers(":1", "PERSIST", "k");
        answers(":0", "PERSIST", "k");
        answers(":0", "PERSIST", "absent");
        answers(":0", "EXPIRE", "absent", "1");
        fails("ERR NX and XX, GT or LT options", "EXPIRE", "k", "1", "NX", "GT");
        fails("ERR GT and LT options", "EXPIRE", "k", "1", "LT", "GT");
        fails("ERR Unsupported option ZZ", "EXPIRE", "k", "1", "ZZ");
        fails("ERR invalid expire time in 'expire' command", "EXPIRE", "k", "9223372036854775807");
        answers(":1", "EXPIREAT", "k", "1");
        answers(":0", "EXISTS", "k");
        client.call("RPUSH", "k", "v");
        answers(":1", "PEXPIREAT", "k", "32503680000000");
        answers(":1", "PERSIST", "k");
        answers(":-1", "TTL", "k");
    }

    @Test
    void whoEmptiesADocumentTakesItsExpiryAway() throws IOException {
        client.call("RPUSH", "k", "v");
        client.call("EXPIRE", "k", "100");
        answers("$v", "LPOP", "k");
        answers(":1", "RPUSH", "k", "w");
        answers(":-1", "TTL", "k");
        client.call("EXPIRE", "k", "100");
        answers("+OK", "LTRIM", "k", "5", "9");
        answers(":1", "RPUSH", "k", "x");
        answers(":-1", "TTL", "k");
    }
}
