package io.caravan.server.http;

import io.caravan.server.document.DocumentService;
import io.caravan.server.metrics.ServerMetrics;
import io.caravan.server.net.Connection;
import io.caravan.server.net.InFlight;
import io.caravan.server.net.WireProtocol;
import io.caravan.server.security.Authenticator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.handler.codec.http.HttpResponseEncoder;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Executor;

/**
 * HTTP, for listeners: from the start for those who ask how the server is, and for documents once it {@linkplain #serve
 * serves} some.
 */
public final class HttpProtocol implements WireProtocol {
    private static final WriteBufferWaterMark WATER_MARK = new WriteBufferWaterMark(32 * 1024, 128 * 1024);
    private static final String TOO_MANY = "HTTP/1.1 503 Service Unavailable\r\n"
            + "Content-Type: text/plain\r\nContent-Length: 21\r\nConnection: close\r\n\r\n"
            + "too many connections\n";

    private final ChannelGroup connections = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);
    private final Readiness readiness = new Readiness();
    private final HttpService service;

    /**
     * Makes the protocol, without documents.
     *
     * @param readers where reads run, which may wait
     */
    public HttpProtocol(HttpConfig config, Executor readers, Authenticator authenticator, ServerMetrics metrics) {
        metrics.connections("http", connections::size);
        Gate gate = new Gate(authenticator);
        Router router = Routes.router(config, gate, readiness, readers, metrics, connections);
        this.service = new HttpService(config, router, gate, readiness, new HttpMetrics(metrics));
    }

    /** From now on there are documents. */
    public void serve(DocumentService documents) {
        readiness.serve(documents);
    }

    /** From now on nothing more is taken on. */
    public void drain() {
        readiness.drain();
    }

    @Override
    public String name() {
        return "HTTP";
    }

    @Override
    public Connection connect(Channel channel, InFlight inFlight) {
        channel.config().setAutoRead(false);
        channel.config().setWriteBufferWaterMark(WATER_MARK);
        connections.add(channel);
        RequestReader reader = new RequestReader();
        HttpConnection connection = new HttpConnection(channel, service, reader, inFlight);
        channel.pipeline().addLast(reader, new HttpResponseEncoder(), connection);
        return connection;
    }

    @Override
    public ByteBuf tooManyConnections() {
        return Unpooled.copiedBuffer(TOO_MANY, StandardCharsets.US_ASCII);
    }
}
