package io.caravan.server.cli.migration;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.server.cli.client.CommandRun;
import io.caravan.server.cli.client.ServedStore;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.commands.ProtocolCommand;

/** Tests copies of documents between servers. */
@Tag("slow")
@Execution(ExecutionMode.CONCURRENT)
@Timeout(120)
class CopyTest {
    private static final int MEBIBYTE = 1024 * 1024;
    private static final ProtocolCommand IMPORT = () -> "CARAVAN.IMPORT".getBytes(UTF_8);
    private static final ProtocolCommand SPACE = () -> "CARAVAN.SPACE".getBytes(UTF_8);

    @AutoClose
    private final ServedStore from = new ServedStore(config -> config.withHttp(ServedStore.http()));

    @AutoClose
    private final ServedStore to = new ServedStore();

    private CommandRun copy(String... options) {
        return CommandRun.of(from, CommandRun.words(List.of("copy", "--to", to.address()), options));
    }

    /** Creates short, long, trimmed, and binary documents, with all attributes and a value of the maximum length. */
    private void fill() throws Exception {
        try (Jedis client = from.jedis()) {
            for (int i = 0; i < 300; i++) {
                client.rpush("short/" + i, "a" + i, "", "c");
            }
            client.rpush(new byte[] {'n', '/', -1, ' '}, new byte[] {0, -1, '\n'}, new byte[MEBIBYTE]);
            for (int i = 0; i < 50; i++) {
                client.rpush("long".getBytes(UTF_8), new byte[60_000], ("v" + i).getBytes(UTF_8));
            }
            client.ltrim("long", 7, -1);
        }
        from.send("PUT", "json", "[1, {\"a\": 1.0}]", "Content-Type", "application/json", "Stream-TTL", "1000");
        from.send(
                "POST",
                "json",
                "[3]",
                "Content-Type",
                "application/json",
                "Producer-Id",
                "p",
                "Producer-Epoch",
                "200",
                "Producer-Seq",
                "0",
                "Stream-Seq",
                "s1",
                "Stream-Closed",
                "true");
        from.send("PUT", "empty", "", "Content-Type", "text/a", "Stream-Expires-At", "2099-01-01T00:00:00Z");
    }

    @Test
    void copiesDocumentsUnchanged() throws Exception {
        fill();
        CommandRun first = copy().succeeds();
        assertThat(first.out()).startsWith("copied 304 documents, 998 values, ");
        assertThat(to.exported()).isEqualTo(from.exported());

        CommandRun again = copy("--json").exits(0);
        assertThat(again.out()).contains("\"documents\":0,", "\"already\":304,", "\"rejected\":0");
    }

    /** A copy must resume after an earlier copy was killed and left an invisible part of a long document. */
    @Test
    void interruptedCopyResumes() throws Exception {
        fill();
        copy("short/1").exits(0);
        try (Jedis other = to.jedis()) {
            for (String first : List.of("0", "7")) {
                other.sendCommand(IMPORT, "long", "BEGIN", first, "ATTRIBUTE", "content-type", "text/a");
            }
        }
        assertThat(copy().out()).startsWith("copied 303 documents, ").contains("; 1 were there already");
        assertThat(to.exported()).isEqualTo(from.exported());
    }

    /** A rejected document must not stop the copying of others, even if the server has already received parts of it. */
    @Test
    void reportsRejectedDocumentAndCopiesOthers() throws Exception {
        fill();
        try (Jedis other = to.jedis()) {
            other.sendCommand(SPACE, "SET", "long", "max-bytes", "1500000");
            for (String expected : List.of("copied 303 documents, ", "copied 0 documents, ")) {
                CommandRun run = copy().exits(3, "document 'long' was not imported", "max-bytes 1500000");
                assertThat(run.out()).startsWith(expected);
            }
            assertThat(other.dbSize()).isEqualTo(303);
            other.sendCommand(SPACE, "REMOVE", "long");
        }
        assertThat(copy().out()).startsWith("copied 1 document, ");
        assertThat(to.exported()).isEqualTo(from.exported());
    }

    @Test
    void existingDocumentIsRejectedSkippedOrReplaced() {
        try (Jedis client = from.jedis();
                Jedis other = to.jedis()) {
            client.rpush("a", "1");
            other.rpush("a", "2", "3");
            copy("a").exits(3, "document 'a' was not imported: document 'a' exists");
            assertThat(copy("--existing", "skip").out()).contains("1 skipped");
            assertThat(other.lrange("a", 0, -1)).containsExactly("2", "3");
            copy("--existing", "replace").exits(0);
            assertThat(other.lrange("a", 0, -1)).containsExactly("1");
        }
    }

    /** A fork, whose length is unknown, must be read only after the replies for other documents have arrived. */
    @Test
    void comparesForksAtTarget() throws Exception {
        try (ServedStore forks = new ServedStore(config -> config.withHttp(ServedStore.http()));
                Jedis client = from.jedis();
                Jedis other = forks.jedis()) {
            other.rpush("origin", "1", "2");
            for (int i = 0; i < 30; i++) {
                client.rpush("d/" + i, "1", "2");
                if (i % 3 == 0) {
                    forks.send("PUT", "d/" + i, "", "Stream-Forked-From", "/v1/stream/origin");
                }
            }
            CommandRun run =
                    CommandRun.of(from, "copy", "--to", forks.address()).succeeds();
            assertThat(run.out()).isEqualTo("copied 20 documents, 40 values, 40 B; 10 were there already\n");
        }
    }

    @Test
    void reportsInvalidAddresses() {
        for (String address : List.of("http://u:s3cret@127.0.0.1:1", "http://127.0.0.1:1", "127.0.0.1")) {
            CommandRun run = CommandRun.of(from, "copy", "--to", address)
                    .exits(2, "Invalid value for option '--to'", "HOST:PORT");
            assertThat(run.err()).doesNotContain("s3cret");
        }
        copy("--to-tls-ca", "none").exits(1, "there is no file 'none'");
    }
}
