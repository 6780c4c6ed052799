package io.caravan.server.protocol.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.server.metrics.ServerMetrics;
import io.caravan.server.net.ConnectionMemory;
import io.caravan.server.net.Unbounded;
import io.caravan.server.protocol.http.Routes.Route;
import io.caravan.server.security.Authenticator;
import io.caravan.server.security.Principal;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.ssl.SslHandler;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import org.junit.jupiter.api.Test;

/** Tests the response headers that depend on the connection or the time. */
class HttpExchangeTest {
    private static String scheme(EmbeddedChannel channel) {
        HttpConfig config = HttpConfig.of(new InetSocketAddress(0), 1, 1 << 20);
        return exchange(protocol(config, Runnable::run), channel, Unbounded.memory(channel))
                .scheme();
    }

    static HttpProtocol protocol(HttpConfig config, Executor readers) {
        return new HttpProtocol(config, Authenticator.open(), new ServerMetrics(), null, readers, http -> List.of());
    }

    /** Returns an exchange for a request on a channel that belongs to no server. */
    static HttpExchange exchange(HttpProtocol protocol, Channel channel, ConnectionMemory memory) {
        HttpRequest head = new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.GET, "/");
        return new HttpExchange(
                new HttpConnection(channel, protocol, memory),
                new Request(head, "/", ""),
                new Route(HttpMethod.GET, "/", "test", null, exchange -> {}),
                Principal.ANYONE);
    }

    @Test
    void dropsWaitingWorkWhenExchangeEnds() {
        HttpProtocol protocol = protocol(HttpConfig.of(new InetSocketAddress(0), 1, 1 << 20), Runnable::run);
        EmbeddedChannel channel = new EmbeddedChannel();
        List<String> ran = new ArrayList<>();
        HttpExchange exchange = exchange(protocol, channel, Unbounded.memory(channel));
        exchange.untilEnd(() -> ran.add("in time")).run();
        Runnable late = exchange.untilEnd(() -> ran.add("late"));
        exchange.gone();
        late.run();
        exchange.untilEnd(() -> ran.add("added late")).run();
        HttpExchange neverWaited = exchange(protocol, channel, Unbounded.memory(channel));
        neverWaited.gone();
        neverWaited.untilEnd(() -> ran.add("added late")).run();
        assertThat(ran).containsExactly("in time");
        channel.close();
    }

    @Test
    void usesHttpsSchemeOverTls() throws Exception {
        SSLEngine engine = SSLContext.getDefault().createSSLEngine();
        engine.setUseClientMode(false);
        EmbeddedChannel secured = new EmbeddedChannel(new SslHandler(engine));
        EmbeddedChannel plain = new EmbeddedChannel();
        assertThat(scheme(secured)).isEqualTo("https");
        assertThat(scheme(plain)).isEqualTo("http");
        secured.close();
        plain.close();
    }

    @Test
    void releasesResponseThatStoppedEventLoopRejects() {
        EventLoopGroup loops = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
        Channel channel = new NioSocketChannel();
        loops.register(channel).syncUninterruptibly();
        loops.shutdownGracefully(0, 0, TimeUnit.SECONDS).syncUninterruptibly();
        HttpConfig config = HttpConfig.of(new InetSocketAddress(0), 1, 1 << 20);
        HttpExchange exchange = exchange(protocol(config, Runnable::run), channel, Unbounded.memory(channel));
        ByteBuf body = Unpooled.buffer(8);
        exchange.respond(new Response(200), body);
        assertThat(body.refCnt()).isZero();
    }

    @Test
    void encodesChunksOfAllLengths() {
        for (int length : new int[] {1, 15, 16, 255, 256, 1 << 16}) {
            String content = "x".repeat(length);
            ByteBuf chunk = HttpExchange.beginChunk();
            chunk.writeCharSequence(content, StandardCharsets.US_ASCII);
            HttpExchange.endChunk(chunk);
            assertThat(chunk.toString(StandardCharsets.US_ASCII))
                    .isEqualTo(Integer.toHexString(length) + "\r\n" + content + "\r\n");
            chunk.release();
        }
    }

    @Test
    void formatsHttpDates() {
        long millis = Instant.parse("1994-11-06T08:49:37Z").toEpochMilli();
        assertThat(Response.date(millis)).isEqualTo("Sun, 06 Nov 1994 08:49:37 GMT");
        assertThat(Response.date(millis + 999)).isEqualTo(Response.date(millis));
        assertThat(Response.date(millis + 1000)).isEqualTo("Sun, 06 Nov 1994 08:49:38 GMT");
        assertThat(Response.date(millis)).isEqualTo("Sun, 06 Nov 1994 08:49:37 GMT");
    }
}
