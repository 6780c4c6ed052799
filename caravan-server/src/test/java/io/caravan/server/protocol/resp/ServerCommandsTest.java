package io.caravan.server.protocol.resp;

import static io.caravan.server.protocol.resp.RespFixture.command;
import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.server.config.LogLevel;
import io.caravan.server.metrics.ServerMetrics;
import io.caravan.server.metrics.ServerMetrics.RequestOutcome;
import io.caravan.server.protocol.resp.ReplyQueue.PendingReply;
import io.caravan.server.security.Authenticator;
import io.netty.channel.embedded.EmbeddedChannel;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** Tests commands about the server and its connections. */
class ServerCommandsTest extends RespTestBase {

    /** The number of arguments of {@code COMMAND} must be limited, because the event loop computes the reply. */
    @Test
    void limitsArgumentsOfCommandInfoAndDocs() throws IOException {
        String[] words = new String[1_000];
        Arrays.fill(words, "rpush");
        words[0] = "COMMAND";
        for (String subcommand : new String[] {"INFO", "DOCS"}) {
            words[1] = subcommand;
            fails("ERR 1000 words are too many for COMMAND", words);
        }
    }

    @Test
    void supportsSaveAndWaitCommands() throws IOException {
        long now = TimeUnit.MILLISECONDS.toSeconds(System.currentTimeMillis());
        replies("+OK", "SAVE");
        assertThat(Long.parseLong(client.call("LASTSAVE").substring(1))).isGreaterThanOrEqualTo(now);
        replies("+Background saving started", "BGSAVE");
        becomes("+Background saving started", "BGSAVE", "SCHEDULE");
        fails("ERR syntax error", "BGSAVE", "NOW");
        replies(":0", "WAIT", "1", "100000");
        fails("ERR value is not an integer", "WAIT", "x", "0");
        replies("[:0, :0]", "WAITAOF", "1", "0", "100000");
        fails("ERR value is out of range", "WAITAOF", "2", "0", "0");
    }

    @Test
    void reportsMemoryUsageAndEncoding() throws IOException {
        client.call("RPUSH", "k", "four", "five!");
        replies(":130", "MEMORY", "USAGE", "k");
        replies(":130", "MEMORY", "USAGE", "k", "SAMPLES", "5");
        replies("null", "MEMORY", "USAGE", "absent");
        fails("ERR syntax error", "MEMORY", "USAGE", "k", "SAMPLE", "5");
        fails("ERR unknown subcommand 'DOCTOR'", "MEMORY", "DOCTOR");
        fails("ERR wrong number of arguments for 'memory|usage'", "MEMORY", "USAGE");
        replies("$quicklist", "OBJECT", "ENCODING", "k");
        replies("null", "OBJECT", "ENCODING", "absent");
        replies("[+OBJECT ENCODING key]", "OBJECT", "HELP");
        replies("[]", "MODULE", "LIST");
    }

    @Test
    void configSetChangesLogLevel() throws IOException {
        LogLevel before = LogLevel.current();
        try {
            replies("+OK", "CONFIG", "SET", "loglevel", "warning");
            replies("[$loglevel, $warn]", "CONFIG", "GET", "loglevel");
            replies("+OK", "CONFIG", "SET", "LogLevel", "debug");
            assertThat(LogLevel.current()).isEqualTo(LogLevel.DEBUG);
            assertThat(LoggerFactory.getLogger("io.netty").isDebugEnabled()).isFalse();
            fails("ERR loglevel must be error, warn, info, debug or trace", "CONFIG", "SET", "loglevel", "loud");
            fails("ERR only loglevel can be changed while the server runs", "CONFIG", "SET", "maxmemory", "1");
        } finally {
            before.apply();
        }
    }

    @Test
    void clientKillClosesMatchingConnections() throws IOException {
        try (RespClient other = fixture.connect();
                RespClient third = fixture.connect()) {
            replies(":0", "CLIENT", "KILL", "ID", "99");
            String id = other.call("CLIENT", "ID").substring(1);
            replies(":0", "CLIENT", "KILL", "ID", id, "USER", "nobody");
            replies(":1", "CLIENT", "KILL", "ID", id);
            assertThat(other.atEnd()).isTrue();
            assertThat(third.call("CLIENT", "SETNAME", "third")).isEqualTo("+OK");
            Matcher address = Pattern.compile("addr=([0-9.:]+) .* name=third").matcher(client.call("CLIENT", "LIST"));
            assertThat(address.find()).isTrue();
            replies("+OK", "CLIENT", "KILL", address.group(1));
            assertThat(third.atEnd()).isTrue();
            fails("ERR No such client", "CLIENT", "KILL", address.group(1));
            fails("ERR syntax error", "CLIENT", "KILL", "ID", "1", "SKIPME");
            fails("ERR syntax error", "CLIENT", "KILL", "NONSENSE", "1");
            replies(":1", "CLIENT", "KILL", "TYPE", "normal", "SKIPME", "no");
            assertThat(client.atEnd()).isTrue();
        }
    }

    @Test
    void countsRequestsByCommandAndOutcome() throws IOException {
        client.call("RPUSH", "k", "v");
        client.call("RPUSH", "k", "w");
        client.call("RPUSH", "k");
        client.call("LRANGE", "k", "0", "-1");
        client.call("NOSUCH", "k");
        client.call("NOSUCH2", "k");
        assertThat(fixture.metrics.scrape())
                .contains(
                        "caravan_requests_seconds_count{operation=\"rpush\",outcome=\"ok\",protocol=\"resp\"} 2",
                        "caravan_requests_seconds_count{operation=\"rpush\",outcome=\"rejected\",protocol=\"resp\"} 1",
                        "caravan_requests_seconds_count{operation=\"lrange\",outcome=\"ok\",protocol=\"resp\"} 1",
                        "caravan_requests_seconds_count{operation=\"unknown\",outcome=\"rejected\",protocol=\"resp\"} 2",
                        "caravan_connections{protocol=\"resp\"} 1.0");
    }

    @Test
    void slowLogRecordsSlowCommands() throws IOException {
        long startSeconds = Instant.now().getEpochSecond();
        RespProtocol protocol =
                fixture.protocol(new RespLimits(1, 1), null, Runnable::run, Authenticator.open(), new ServerMetrics());
        EmbeddedChannel channel = new EmbeddedChannel();
        Session session = RespFixture.session(channel);
        RespHandler handler = new RespHandler(channel, protocol, session.memory);
        CommandSpec spec = protocol.table().get("RPUSH");
        String[] words = new String[40];
        Arrays.fill(words, "x".repeat(200));
        PendingReply longRequest = session.replies.open(session, command(spec, words), 0);
        PendingReply shortRequest = session.replies.open(session, command(spec, "RPUSH"), 0);
        handler.ended(longRequest, RequestOutcome.OK, 9_999_999);
        handler.ended(longRequest, RequestOutcome.ABANDONED, 2_000_000_000);
        handler.ended(session.replies.open(session, null, 0), RequestOutcome.REJECTED, 2_000_000_000);
        handler.ended(RespFixture.open(session, "NOSUCH"), RequestOutcome.REJECTED, 2_000_000_000);
        handler.ended(longRequest, RequestOutcome.OK, 2_000_000_000);
        for (int i = 0; i < 200; i++) {
            handler.ended(shortRequest, RequestOutcome.OK, 10_000_000);
        }
        PendingReply popRequest =
                session.replies.open(session, command(protocol.table().get("BLPOP"), "BLPOP"), 0);
        handler.ended(popRequest, RequestOutcome.OK, 2_000_000_000);
        Action.Immediate slowlog = (Action.Immediate) protocol.table().get("SLOWLOG").action;
        assertThat(slowlog.run(session, command("SLOWLOG", "LEN"))).isEqualTo(new Reply.Number(128));
        Reply.Array newest = (Reply.Array) slowlog.run(session, command("SLOWLOG", "GET"));
        assertThat(newest.elements()).hasSize(10);
        List<? extends Reply> last = ((Reply.Array) newest.elements().get(0)).elements();
        assertThat(last).hasSize(6);
        assertThat(List.of(last.get(0), last.get(2)))
                .isEqualTo(List.of(new Reply.Number(200), new Reply.Number(10_000)));
        assertThat(((Reply.Number) last.get(1)).value())
                .isBetween(startSeconds - 1, Instant.now().getEpochSecond());
        assertThat(slowlog.run(session, command("SLOWLOG", "RESET"))).isEqualTo(Reply.OK);
        handler.ended(longRequest, RequestOutcome.OK, 2_000_000_000);
        Reply.Array one = (Reply.Array) slowlog.run(session, command("SLOWLOG", "GET", "-1"));
        Reply.Array entry = (Reply.Array) one.elements().get(0);
        Reply.Array shown = (Reply.Array) entry.elements().get(3);
        assertThat(shown.elements()).hasSize(32);
        assertThat(shown.elements().get(0).heldBytes()).isLessThan(250);
        replies(":0", "SLOWLOG", "LEN");
        replies("[]", "SLOWLOG", "GET", "5");
        replies("+OK", "SLOWLOG", "RESET");
    }

    @Test
    void addressOfIpv6ClientHasBrackets() {
        EmbeddedChannel channel = new EmbeddedChannel() {
            @Override
            protected SocketAddress remoteAddress0() {
                return new InetSocketAddress("::1", 6380);
            }
        };
        Session session = RespFixture.session(channel);
        assertThat(ConnectionCommands.info(session).address()).isEqualTo("[0:0:0:0:0:0:0:1]:6380");
    }

    @Test
    void clientInfoAndListReportConnections() throws IOException {
        replies("+OK", "CLIENT", "SETINFO", "LIB-NAME", "lib");
        replies("+OK", "CLIENT", "SETINFO", "lib-ver", "1.2");
        fails("ERR Unrecognized option", "CLIENT", "SETINFO", "NONSENSE", "x");
        fails("ERR lib-name cannot contain", "CLIENT", "SETINFO", "LIB-NAME", "a b");
        client.call("CLIENT", "SETNAME", "me");
        assertThat(client.call("CLIENT", "INFO"))
                .matches("\\$id=1 addr=127.0.0.1:[0-9]+ laddr=127.0.0.1:[0-9]+ name=me age=[0-9]+ db=0 resp=2"
                        + " user=anyone lib-name=lib lib-ver=1.2 tot-cmds=6\n");
        try (RespClient other = fixture.connect()) {
            assertThat(other.call("HELLO", "3")).startsWith("{");
            assertThat(client.call("CLIENT", "LIST").lines()).hasSize(2);
            assertThat(client.call("CLIENT", "LIST", "ID", "2", "7"))
                    .startsWith("$id=2 ")
                    .contains(" resp=3 ");
            assertThat(client.call("CLIENT", "LIST", "TYPE", "normal").lines()).hasSize(2);
            replies("$", "CLIENT", "LIST", "TYPE", "replica");
            fails("ERR syntax error", "CLIENT", "LIST", "ID");
        }
        replies("+OK", "CLIENT", "NO-EVICT", "on");
        replies("+OK", "CLIENT", "NO-TOUCH", "OFF");
        fails("ERR syntax error", "CLIENT", "NO-TOUCH", "maybe");
        fails("ERR unknown subcommand 'MAINT_NOTIFICATIONS'", "CLIENT", "MAINT_NOTIFICATIONS", "on");
        fails("ERR wrong number of arguments for 'client|id' command", "CLIENT", "ID", "x");
        assertThat(client.call("CLIENT", "HELP")).contains("+CLIENT SETNAME name", "+CLIENT ID");
    }

    @Test
    void usesResp3TypesAfterHello3() throws IOException {
        client.call("HELLO", "3");
        assertThat(client.call("INFO", "replication"))
                .isEqualTo("=txt:# Replication\r\nrole:master\r\nconnected_slaves:0\r\n");
        replies("{$save: $}", "CONFIG", "GET", "save");
        replies("[[$llen, :2, ~[+readonly, +fast], :1, :1, :1]]", "COMMAND", "INFO", "llen");
        assertThat(client.call("COMMAND", "DOCS", "llen")).startsWith("{$llen: {$summary: $");
    }
}
