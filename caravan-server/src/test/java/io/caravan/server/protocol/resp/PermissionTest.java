package io.caravan.server.protocol.resp;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.server.security.TestUsers;
import io.caravan.testing.Eventually;
import java.io.IOException;
import java.util.Locale;
import org.junit.jupiter.api.Test;

/** Tests that the server checks the permissions of users for each command and for each document in the command. */
class PermissionTest extends RespTestBase {
    private static final String SECRETS = """
            reader.secret = reads-and-reads
            reader.permissions = read
            writer.secret = writes-and-writes
            writer.permissions = write
            editor.secret = does-both-of-them
            editor.permissions = read, write
            editor.prefixes = mine/
            admin.secret = looks-after-it
            admin.permissions = admin
            """;

    private TestUsers users;

    @Override
    RespFixture newFixture() throws IOException {
        users = new TestUsers(SECRETS);
        return RespFixture.with(users.authenticator);
    }

    private void become(String user, String secret) throws IOException {
        replies("+OK", "AUTH", user, secret);
    }

    @Test
    void readersCannotWriteAndWritersCannotRead() throws IOException {
        become("writer", "writes-and-writes");
        replies(":2", "RPUSH", "k", "a", "b");
        replies("+OK", "LTRIM", "k", "1", "-1");
        fails("NOPERM No permissions to access a key: user writer may not read it", "LRANGE", "k", "0", "-1");
        fails("NOPERM No permissions to access a key: user writer may not read it", "LPOP", "k");
        mayNotRun("writer", "scan", "SCAN", "0", "COUNT", "5000");
        mayNotRun("writer", "keys", "KEYS", "*");
        mayNotRun("writer", "info", "INFO");
        mayNotRun("writer", "caravan.backup", "CARAVAN.BACKUP", "b");
        mayNotRun("writer", "caravan.space", "CARAVAN.SPACE", "LIST");
        become("reader", "reads-and-reads");
        replies("[$b]", "LRANGE", "k", "0", "-1");
        replies("[$k]", "KEYS", "*");
        assertThat(client.call("INFO"))
                .startsWith("$# Server")
                .contains("\r\narchive_state:none\r\n")
                .doesNotContain("process_id", "java_version", "# Stats", "log_bytes", "# Keyspace");
        become("admin", "looks-after-it");
        assertThat(client.call("INFO")).contains("process_id", "java_version", "# Stats", "log_bytes", "# Keyspace");
        become("reader", "reads-and-reads");
        fails("NOPERM No permissions to access a key: user reader may not write it", "DEL", "k");
        fails("NOPERM No permissions to access a key: user reader may not write it", "LPOP", "k");
        replies("+OK", "MULTI");
        fails("NOPERM ", "RPUSH", "k", "c");
        fails("EXECABORT", "EXEC");
        fails("ERR a document's name", "LLEN", "");
    }

    private void mayNotRun(String user, String command, String... words) throws IOException {
        fails("NOPERM User " + user + " has no permissions to run the '" + command + "' command", words);
    }

    @Test
    void blockedReadIsRejectedAfterSecretRevocation() throws IOException {
        become("writer", "writes-and-writes");
        try (RespClient tail = fixture.connect()) {
            assertThat(tail.call("AUTH", "reader", "reads-and-reads")).isEqualTo("+OK");
            tail.send("CARAVAN.READ", "k", "FROM", "0", "BLOCK", "600000");
            tail.send("LLEN", "k");
            Eventually.await("it waits", () -> fixture.documents.tailedDocuments() == 1);
            users.replace("reads-and-reads", "another-one");
            replies(":1", "RPUSH", "k", "secret");
            tail.reads("-NOAUTH Authentication required.", "-NOAUTH Authentication required.");
        }
    }

    @Test
    void longReplyIsCutOffAfterSecretRevocation() throws IOException {
        become("writer", "writes-and-writes");
        String value = "v".repeat(512 * 1024);
        for (int i = 1; i <= 64; i++) {
            replies(":" + i, "RPUSH", "k", value);
        }
        try (RespClient slow = fixture.connect(16 * 1024)) {
            assertThat(slow.call("AUTH", "reader", "reads-and-reads")).isEqualTo("+OK");
            slow.send("LRANGE", "k", "0", "-1");
            slow.readRaw(4096);
            users.replace("reads-and-reads", "another-one");
            int most = 64 * value.length();
            assertThat(slow.readRaw(most).length).isLessThan(most);
        }
    }

    @Test
    void restrictsUserToAllowedPrefixes() throws IOException {
        become("editor", "does-both-of-them");
        replies(":1", "RPUSH", "mine/k", "a");
        replies("$a", "LPOP", "mine/k");
        fails("NOPERM No permissions to access a key", "RPUSH", "theirs/k", "a");
        fails("NOPERM No permissions to access a key", "DEL", "mine/k", "theirs/k");
        mayNotRun("editor", "caravan.restore at", "CARAVAN.RESTORE", "mine/k", "AT", "1");
        fails("ARCHIVE this server has no archive", "CARAVAN.RESTORE", "mine/k");
        mayNotRun("editor", "caravan.move fence", "CARAVAN.MOVE", "mine/k", "FENCE", "1", "elsewhere:1");
        become("writer", "writes-and-writes");
        client.call("RPUSH", "theirs/k", "a");
        become("editor", "does-both-of-them");
        replies("[$mine/k]", "KEYS", "*");
        replies("[$0, [$mine/k]]", "SCAN", "0", "COUNT", "5000");
    }

    @Test
    void serverCommandsRequireAdminPermission() throws IOException {
        for (String each : "SAVE, BGSAVE, CONFIG GET save, CLIENT LIST, CLIENT KILL ID 99, SLOWLOG LEN".split(", ")) {
            String[] command = each.split(" ");
            become("editor", "does-both-of-them");
            fails("NOPERM User editor has no permissions to run the '" + command[0].toLowerCase(Locale.ROOT), command);
            become("admin", "looks-after-it");
            assertThat(client.call(command)).doesNotStartWith("-");
        }
        fails("NOPERM No permissions to access a key", "LLEN", "k");
    }

    @Test
    void connectionIsUnauthenticatedAfterSecretRevocation() throws IOException {
        become("reader", "reads-and-reads");
        replies(":0", "LLEN", "k");
        users.replace("reads-and-reads", "reads-something-else");
        replies("-NOAUTH Authentication required.", "LLEN", "k");
        fails("WRONGPASS", "AUTH", "reader", "reads-and-reads");
        become("reader", "reads-something-else");
        replies(":0", "LLEN", "k");
    }
}
