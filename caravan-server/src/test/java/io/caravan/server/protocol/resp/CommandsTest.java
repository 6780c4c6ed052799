package io.caravan.server.protocol.resp;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.server.app.ServerFixture;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Tests the RESP commands over a real socket. */
class CommandsTest extends RespTestBase {
    @Test
    void pushesAndReturnsRanges() throws IOException {
        replies(":1", "RPUSH", "k", "a");
        replies(":4", "rpush", "k", "b", "", "d");
        replies(":4", "LLEN", "k");
        replies("[$a, $b, $, $d]", "LRANGE", "k", "0", "-1");
        replies("[$b, $]", "LRANGE", "k", "1", "2");
        replies("[$d]", "LRANGE", "k", "-1", "100");
        replies("[]", "LRANGE", "k", "3", "1");
        replies("[]", "LRANGE", "absent", "0", "-1");
        replies(":0", "LLEN", "absent");
        fails("ERR value is not an integer", "LRANGE", "k", "0", "x");
    }

    @Test
    void trimsOnlyFromHead() throws IOException {
        client.call("RPUSH", "k", "a", "b", "c", "d");
        replies("+OK", "LTRIM", "k", "1", "-1");
        replies("+OK", "LTRIM", "k", "-2", "7");
        replies("[$c, $d]", "LRANGE", "k", "0", "-1");
        fails("ERR LTRIM can only trim values from the head", "LTRIM", "k", "0", "0");
        replies("+OK", "LTRIM", "k", "0", "-1");
        replies("+OK", "LTRIM", "absent", "5", "6");
        replies(":3", "RPUSH", "k", "e");
        replies("[$c, $d, $e]", "LRANGE", "k", "0", "-1");
    }

    @Test
    void emptyTrimmedDocumentDoesNotExistForRedis() throws IOException {
        client.call("RPUSH", "k", "a", "b");
        replies("+OK", "LTRIM", "k", "1", "0");
        replies(":0", "LLEN", "k");
        replies(":0", "EXISTS", "k");
        replies("[]", "LRANGE", "k", "0", "-1");
        replies(":1", "RPUSH", "k", "c");
        replies(":1", "EXISTS", "k");
        client.call("LTRIM", "k", "9", "9");
        replies(":0", "DEL", "k");
        replies(":1", "RPUSH", "k", "d");
    }

    @Test
    void deleteAndExistsAcceptManyNames() throws IOException {
        client.call("RPUSH", "a", "1");
        client.call("RPUSH", "b", "1");
        replies(":3", "EXISTS", "a", "b", "c", "a");
        replies(":2", "DEL", "a", "b", "c", "a");
        replies(":0", "EXISTS", "a", "b");
        replies(":0", "DEL", "a");
        replies(":1", "RPUSH", "a", "new");
        replies("[$new]", "LRANGE", "a", "0", "-1");
    }

    @Test
    void limitsNameLength() throws IOException {
        replies(":1", "RPUSH", "n".repeat(1024), "v");
        fails("ERR a document's name must have 1 to 1024 bytes, has 1025", "RPUSH", "n".repeat(1025), "v");
        fails("ERR a document's name", "LLEN", "");
        fails("ERR a document's name", "DEL", "a", "");
    }

    @Test
    void limitsValueLength() throws IOException {
        replies(":1", "RPUSH", "k", "v".repeat(ServerFixture.MAX_WORD_BYTES));
        String tooLong = "v".repeat(ServerFixture.MAX_WORD_BYTES + 1);
        fails("ERR a value of " + tooLong.length() + " bytes is over the limit", "RPUSH", "k", tooLong);
        replies(":1", "LLEN", "k");
        replies("+OK", "MULTI");
        fails("ERR a value of", "RPUSH", "k", tooLong);
        fails("EXECABORT", "EXEC");
        replies(":1", "LLEN", "k");
    }

    @Test
    void protocolErrorRepliesInOrderAndClosesConnection() throws IOException {
        client.sendRaw("*3\r\n$5\r\nRPUSH\r\n$1\r\nk\r\n$1\r\nv\r\nLLEN k\r\n*1\r\n$-5\r\n".getBytes(UTF_8));
        client.reads(":1", ":1", "-ERR Protocol error: invalid bulk length");
        assertThat(client.atEnd()).isTrue();
    }

    /** SELECT of another database must close the connection, or clients such as ioredis would write to database 0. */
    @Test
    void selectingOtherDatabaseClosesConnection() throws IOException {
        client.sendRaw("RPUSH k before\r\nSELECT 1\r\nRPUSH k after\r\nDEL k\r\n".getBytes(UTF_8));
        assertThat(client.read()).isEqualTo(":1");
        assertThat(client.read()).startsWith("-ERR DB index is out of range: there is only database 0");
        assertThat(client.atEnd()).isTrue();
        try (RespClient other = fixture.connect()) {
            assertThat(other.call("LRANGE", "k", "0", "-1")).isEqualTo("[$before]");
        }
    }

    @Test
    void supportsConnectionCommands() throws IOException {
        replies("+PONG", "PING");
        replies("$hi", "PING", "hi");
        fails("ERR wrong number of arguments for 'ping'", "PING", "a", "b");
        replies("$hi", "ECHO", "hi");
        replies("+OK", "SELECT", "0");
        replies("+OK", "CLIENT", "SETNAME", "me");
        replies("$me", "CLIENT", "GETNAME");
        fails("ERR Client names cannot contain spaces", "CLIENT", "SETNAME", "a b");
        replies("+OK", "CLIENT", "SETINFO", "LIB-NAME", "x");
        assertThat(client.call("CLIENT", "ID")).matches(":[0-9]+");
        fails("ERR unknown subcommand 'PAUSE'. Try CLIENT HELP.", "CLIENT", "PAUSE");
        replies("+OK", "QUIT");
        assertThat(client.atEnd()).isTrue();
    }

    @Test
    void helloSelectsVersionOrChangesNothing() throws IOException {
        assertThat(client.call("HELLO", "2", "SETNAME", "me"))
                .startsWith("[$server, $caravan, $version, ")
                .contains("$proto, :2", "$mode, $standalone", "$role, $master", "$modules, []");
        replies("$me", "CLIENT", "GETNAME");
        assertThat(client.call("HELLO", "3")).startsWith("{$server: $caravan, ").contains("$proto: :3");
        replies("_", "LINDEX", "absent", "0");
        fails("NOPROTO unsupported protocol version", "HELLO", "4");
        fails("ERR Syntax error in HELLO", "HELLO", "2", "SETNAME");
        fails("ERR Client names", "HELLO", "2", "SETNAME", "a b");
        replies("_", "LINDEX", "absent", "0");
        replies("+RESET", "RESET");
        replies("null", "LINDEX", "absent", "0");
        replies("null", "CLIENT", "GETNAME");
    }

    @Test
    void reportsUnknownCommandsAndWrongArityLikeRedis() throws IOException {
        replies("-ERR unknown command 'NOSUCH', with args beginning with: 'k' 'v' ", "NOSUCH", "k", "v");
        String lpush =
                "-ERR unknown command 'lpush', with args beginning with: 'k' 'v' ; values are appended at the tail"
                        + " only: use RPUSH";
        replies(lpush, "lpush", "k", "v");
        String watch = "ERR unknown command 'WATCH', with args beginning with: 'k' ; use CARAVAN.APPEND with IFSEQ";
        fails(watch, "WATCH", "k");
        replies("-ERR wrong number of arguments for 'rpush' command", "RPUSH", "k");
        replies("-ERR wrong number of arguments for 'llen' command", "LLEN", "a", "b");
    }

    @Test
    void infoReturnsSections() throws IOException {
        client.call("RPUSH", "k", "v");
        String info = client.call("INFO");
        assertThat(info)
                .contains("# Server\r\n", "# Clients\r\nconnected_clients:1\r\n", "# Stats\r\nappends:1\r\n")
                .contains("# Persistence\r\nloading:0\r\ndurability:memory\r\n", "# Keyspace\r\ndocuments:1\r\n");
        assertThat(client.call("INFO", "clients")).isEqualTo("$# Clients\r\nconnected_clients:1\r\n");
        replies("$", "INFO", "nothing");
    }

    @Test
    void configGetReturnsSettingsUsedByTools() throws IOException {
        replies("[$save, $]", "CONFIG", "GET", "save");
        replies("[$appendonly, $no]", "CONFIG", "GET", "appendonly");
        replies("[$appendonly, $no, $appendfsync, $no]", "CONFIG", "GET", "APPEND*");
        replies("[]", "CONFIG", "GET", "nonsense");
        fails("ERR only loglevel can be changed while the server runs", "CONFIG", "SET", "save", "");
    }

    @Test
    void commandListMatchesDocumentation() throws IOException {
        Set<String> listed = found("\\[\\$([a-z.]+), :-?[0-9]+, ", client.call("COMMAND"))
                .map(name -> name.toUpperCase(Locale.ROOT))
                .collect(Collectors.toSet());
        replies(":" + listed.size(), "COMMAND", "COUNT");
        assertThat(client.call("COMMAND", "DOCS", "rpush", "nosuch"))
                .startsWith("[$rpush, [$summary, $Appends values to a document, all or none., $since, ");
        assertThat(client.call("COMMAND", "INFO", "LLEN", "nosuch"))
                .isEqualTo("[[$llen, :2, [+readonly, +fast], :1, :1, :1], nullarray]");
        assertThat(client.call("COMMAND", "LIST")).contains("$caravan.append");
        String commandTable =
                Files.readString(Path.of("../docs/reference/resp.md")).split("### In a cluster")[0];
        Set<String> documented = found("(?m)^\\| (`[^|]*`) \\|", commandTable)
                .flatMap(names -> found("`([A-Z.]+)", names))
                .collect(Collectors.toSet());
        assertThat(documented).isEqualTo(listed);
    }

    /** Returns the first capturing group of each match in {@code text}. */
    private static Stream<String> found(String pattern, String text) {
        return Pattern.compile(pattern).matcher(text).results().map(match -> match.group(1));
    }
}
