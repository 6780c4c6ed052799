package io.caravan.server.protocol.resp;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Commands about the server and its connections. */
class ServerCommandsTest extends RespTestBase {

    /** The answer is made on the event loop. */
    @Test
    void commandTellsOfNoMoreCommandsThanThereAre() throws IOException {
        String[] words = new String[1_000];
        Arrays.fill(words, "rpush");
        words[0] = "COMMAND";
        for (String subcommand : new String[] {"INFO", "DOCS"}) {
            words[1] = subcommand;
            fails("ERR 1000 words are too many for COMMAND", words);
        }
    }

    @Test
    void checkpointsAndDurability() throws IOException {
        long now = TimeUnit.MILLISECONDS.toSeconds(System.currentTimeMillis());
        answers("+OK", "SAVE");
        assertThat(Long.parseLong(client.call("LASTSAVE").substring(1))).isBetween(now, now + 60);
        answers("+Background saving started", "BGSAVE");
        becomes("+Background saving started", "BGSAVE", "SCHEDULE");
        fails("ERR syntax error", "BGSAVE", "NOW");
        answers(":0", "WAIT", "1", "100000");
        fails("ERR value is not an integer", "WAIT", "x", "0");
        answers("[:0, :0]", "WAITAOF", "1", "0", "100000");
        fails("ERR value is out of range", "WAITAOF", "2", "0", "0");
    }

    @Test
    void connectionsTellOfThemselves() throws IOException {
        answers("+OK", "CLIENT", "SETINFO", "LIB-NAME", "lib");
        answers("+OK", "CLIENT", "SETINFO", "lib-ver", "1.2");
        fails("ERR Unrecognized option", "CLIENT", "SETINFO", "NONSENSE", "x");
        fails("ERR lib-name cannot contain", "CLIENT", "SETINFO", "LIB-NAME", "a b");
        client.call("CLIENT", "SETNAME", "me");
        assertThat(client.call("CLIENT", "INFO"))
                .matches("\\$id=1 addr=127.0.0.1:[0-9]+ laddr=127.0.0.1:[0-9]+ name=me age=[0-9]+ db=0 resp=2"
                        + " user=anyone lib-name=lib lib-ver=1.2\n");
        try (RespClient other = fixture.connect()) {
            assertThat(other.call("HELLO", "3")).startsWith("{");
            assertThat(client.call("CLIENT", "LIST").lines()).hasSize(2);
            assertThat(client.call("CLIENT", "LIST", "ID", "2", "7"))
                    .startsWith("$id=2 ")
                    .contains(" resp=3 ");
            assertThat(client.call("CLIENT", "LIST", "TYPE", "normal").lines()).hasSize(2);
            answers("$", "CLIENT", "LIST", "TYPE", "replica");
            fails("ERR syntax error", "CLIENT", "LIST", "ID");
        }
        answers("+OK", "CLIENT", "NO-EVICT", "on");
        answers("+OK", "CLIENT", "NO-TOUCH", "OFF");
        fails("ERR syntax error", "CLIENT", "NO-TOUCH", "maybe");
        fails("ERR unknown subcommand 'MAINT_NOTIFICATIONS'", "CLIENT", "MAINT_NOTIFICATIONS", "on");
        fails("ERR wrong number of arguments for 'client|id' command", "CLIENT", "ID", "x");
        assertThat(client.call("CLIENT", "HELP")).contains("+CLIENT SETNAME name", "+CLIENT ID");
    }

    @Test
    void repliesThatRespThreeHasTypesFor() throws IOException {
        client.call("HELLO", "3");
        assertThat(client.call("INFO", "replication"))
                .isEqualTo("=txt:# Replication\r\nrole:master\r\nconnected_slaves:0\r\n");
        answers("{$save: $}", "CONFIG", "GET", "save");
        answers("[[$llen, :2, ~[+readonly, +fast], :1, :1, :1]]", "COMMAND", "INFO", "llen");
        assertThat(client.call("COMMAND", "DOCS", "llen")).startsWith("{$llen: {$summary: $");
    }
}
