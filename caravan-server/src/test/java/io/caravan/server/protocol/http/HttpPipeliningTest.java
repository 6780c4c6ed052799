package io.caravan.server.protocol.http;

import static io.caravan.server.protocol.http.RawClient.get;
import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.fuzz.MemoryUse;
import io.caravan.server.metrics.ServerMetrics;
import io.caravan.server.net.ConnectionMemory;
import io.caravan.server.net.Unbounded;
import io.caravan.server.protocol.http.Routes.Route;
import io.caravan.server.security.Authenticator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseEncoder;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests pipelined requests on one connection, step by step. */
class HttpPipeliningTest {
    private static final Pattern BODY = Pattern.compile("(?<=\\r\\n\\r\\n)[a-z]+");
    private static final Duration LONG = Duration.ofHours(1);

    private final ServerMetrics metrics = new ServerMetrics();
    private final List<HttpExchange> waiting = new ArrayList<>();
    private final List<Integer> sizes = new ArrayList<>();
    private EmbeddedChannel channel;
    private ConnectionMemory connectionMemory;

    @BeforeEach
    void connect() {
        HttpConfig config =
                new HttpConfig(new InetSocketAddress(0), 10_000, 1000, LONG, LONG, LONG, Set.of(), Set.of());
        Consumer<HttpExchange> size = exchange -> {
            sizes.add(exchange.request.body.length);
            exchange.respond(text("got"));
        };
        Consumer<HttpExchange> broken = exchange -> {
            throw new StackOverflowError();
        };
        List<Route> routes = List.of(
                new Route(HttpMethod.GET, "/now", "now", null, exchange -> exchange.respond(text("now")), 200),
                new Route(HttpMethod.GET, "/later", "later", null, waiting::add, 200),
                new Route(HttpMethod.POST, "/size", "size", null, size, 200),
                new Route(HttpMethod.GET, "/broken", "broken", null, broken, 200));
        HttpProtocol protocol =
                new HttpProtocol(config, Authenticator.open(), metrics, null, Runnable::run, any -> routes);
        channel = new EmbeddedChannel();
        connectionMemory = Unbounded.memory(channel);
        HttpConnection connection = new HttpConnection(channel, protocol, connectionMemory);
        channel.pipeline().addLast(connectionMemory, connection.decoder, new HttpResponseEncoder(), connection);
    }

    @AfterEach
    void disconnect() {
        channel.finishAndReleaseAll();
        metrics.close();
    }

    private static Response text(String text) {
        return new Response(200).body("text/plain", text.getBytes(StandardCharsets.US_ASCII));
    }

    /** Passes the bytes of one socket read to the pipeline without running tasks of the event loop. */
    private ByteBuf receive(String text) {
        ByteBuf bytes = Unpooled.copiedBuffer(text, StandardCharsets.US_ASCII);
        channel.pipeline().fireChannelRead(bytes);
        return bytes;
    }

    /** Returns the response bodies that were sent since the last call. */
    private List<String> responded() {
        StringBuilder out = new StringBuilder();
        for (ByteBuf piece = channel.readOutbound(); piece != null; piece = channel.readOutbound()) {
            out.append(piece.toString(StandardCharsets.US_ASCII));
            piece.release();
        }
        return BODY.matcher(out).results().map(MatchResult::group).toList();
    }

    @Test
    void handlesNextRequestOnceOnWritabilityChange() {
        receive(get("/now") + get("/later") + get("/now"));
        channel.pipeline().fireChannelWritabilityChanged();
        channel.runPendingTasks();
        assertThat(waiting).hasSize(1);
        assertThat(responded()).containsExactly("now");
        waiting.get(0).respond(text("later"));
        channel.runPendingTasks();
        assertThat(responded()).containsExactly("later", "now");
    }

    @Test
    void buffersPipelinedRequestsUndecoded() throws Exception {
        String ahead = get("/now").repeat(50_000);
        receive(get("/later"));
        assertThat(channel.config().isAutoRead()).isTrue();
        MemoryUse.within(4L * ahead.length(), () -> receive(ahead));
        assertThat(channel.config().isAutoRead()).isFalse();
        channel.pipeline().fireChannelReadComplete();
        assertThat(channel.config().isAutoRead()).isFalse();
        waiting.get(0).respond(text("later"));
        channel.runPendingTasks();
        assertThat(responded()).hasSize(50_001);
        assertThat(channel.config().isAutoRead()).isTrue();
    }

    /** Checks that the server still notices when the client disconnects. */
    @Test
    void keepsReadingAfterLineEndsBehindRequest() {
        receive(get("/later") + "\r\n");
        channel.pipeline().fireChannelReadComplete();
        assertThat(channel.config().isAutoRead()).isTrue();
        receive("\r\n" + get("/now"));
        channel.pipeline().fireChannelReadComplete();
        assertThat(channel.config().isAutoRead()).isFalse();
        waiting.get(0).respond(text("later"));
        channel.runPendingTasks();
        assertThat(responded()).containsExactly("later", "now");
        assertThat(channel.config().isAutoRead()).isTrue();
    }

    /** Checks that the server notices when a client that waits for new values disconnects. */
    @Test
    void keepsReadingWhileFollowerHasFewPipelinedRequests() {
        receive(get("/later") + get("/now"));
        waiting.get(0).waitForValues(() -> {});
        assertThat(channel.config().isAutoRead()).isTrue();
        receive(get("/now").repeat(4_000));
        channel.pipeline().fireChannelReadComplete();
        assertThat(channel.config().isAutoRead()).isFalse();
        waiting.get(0).respond(text("later"));
        channel.runPendingTasks();
        assertThat(responded()).hasSize(4_002);
        assertThat(channel.config().isAutoRead()).isTrue();
    }

    @Test
    void endedRequestsOfFollowersAreNotCounted() {
        receive(get("/later").repeat(2));
        for (int i = 0; i < 1000; i++) {
            HttpExchange follower = waiting.get(i);
            follower.waitForValues(() -> {});
            receive(get("/later"));
            channel.pipeline().fireChannelReadComplete();
            follower.respond(text("later"));
            channel.runPendingTasks();
        }
        assertThat(Unbounded.requestBytes(connectionMemory)).isLessThan(2000);
    }

    @Test
    void drainsFollowerThatBeginsAfterEndOfInput() {
        receive(get("/later").repeat(2));
        List<String> drained = new ArrayList<>();
        waiting.get(0).waitForValues(() -> drained.add("first"));
        channel.pipeline().fireUserEventTriggered(ChannelInputShutdownEvent.INSTANCE);
        waiting.get(0).respond(text("later"));
        channel.runPendingTasks();
        waiting.get(1).waitForValues(() -> drained.add("second"));
        assertThat(drained).containsExactly("first", "second");
    }

    @Test
    void respondsToPipelinedRequestAfterHalfClose() {
        receive(get("/later") + get("/now"));
        channel.pipeline().fireUserEventTriggered(ChannelInputShutdownEvent.INSTANCE);
        waiting.get(0).respond(text("later"));
        channel.runPendingTasks();
        assertThat(responded()).containsExactly("later", "now");
        assertThat(channel.isOpen()).isFalse();
    }

    private static String inTinyChunks(int parts) {
        return "POST /size HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
                + "1\r\nx\r\n".repeat(parts) + "0\r\n\r\n";
    }

    @Test
    void bodyInTinyChunksYieldsEventLoop() {
        receive(inTinyChunks(5_000) + get("/now"));
        channel.pipeline().fireChannelReadComplete();
        assertThat(sizes).as("taken whole in one turn").isEmpty();
        assertThat(channel.config().isAutoRead()).isFalse();
        assertThat(Unbounded.requestBytes(connectionMemory))
                .as("the rest of the bytes is counted")
                .isGreaterThan(4L * 6 * 1_000 - 100);
        channel.runPendingTasks();
        assertThat(channel.config().isAutoRead()).isTrue();
        assertThat(sizes).containsExactly(5_000);
        assertThat(responded()).containsExactly("got", "now");
    }

    @Test
    void readsBodyInTinyChunksAfterHalfClose() {
        receive(inTinyChunks(5_000));
        channel.pipeline().fireChannelReadComplete();
        channel.pipeline().fireUserEventTriggered(ChannelInputShutdownEvent.INSTANCE);
        channel.runPendingTasks();
        assertThat(sizes).containsExactly(5_000);
        assertThat(responded()).containsExactly("got");
        assertThat(channel.isOpen()).isFalse();
    }

    @Test
    void partialBodyClosesConnectionAfterHalfClose() {
        String whole = inTinyChunks(5_000);
        receive(whole.substring(0, whole.length() - 100));
        channel.pipeline().fireChannelReadComplete();
        channel.pipeline().fireUserEventTriggered(ChannelInputShutdownEvent.INSTANCE);
        channel.runPendingTasks();
        assertThat(responded()).isEmpty();
        assertThat(channel.isOpen()).isFalse();
    }

    @Test
    void failedRequestClosesConnectionAndReleasesBuffer() {
        ByteBuf bytes = receive(get("/now") + get("/broken") + get("/now"));
        channel.runPendingTasks();
        assertThat(responded()).containsExactly("now");
        assertThat(channel.isOpen()).isFalse();
        assertThat(bytes.refCnt()).isZero();
    }
}
