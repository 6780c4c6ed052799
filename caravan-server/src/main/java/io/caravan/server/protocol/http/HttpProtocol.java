package io.caravan.server.protocol.http;

import io.caravan.server.cluster.Cluster;
import io.caravan.server.config.HostPort;
import io.caravan.server.metrics.ServerMetrics;
import io.caravan.server.net.ClientInfo;
import io.caravan.server.net.Connection;
import io.caravan.server.net.ConnectionMemory;
import io.caravan.server.net.Transport;
import io.caravan.server.net.WireProtocol;
import io.caravan.server.security.Authenticator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.handler.codec.http.HttpResponseEncoder;
import io.netty.util.AttributeKey;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Implements HTTP for a listener. Serves health pages from the start, and documents after {@link #serve}. */
public final class HttpProtocol implements WireProtocol {
    private static final String TOO_MANY_CONNECTIONS = "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\n"
            + "Content-Type: " + Problem.CONTENT_TYPE + "\r\nContent-Length: ";

    /**
     * The default idle timeout. Longer than the minute after which proxies usually close idle connections, so that the
     * proxy closes a connection first.
     */
    private static final Duration IDLE_TIMEOUT = Duration.ofMinutes(2);

    private static final AttributeKey<Long> OPENED_NANOS = AttributeKey.valueOf("caravan.opened");

    private final HttpService service;
    private final ChannelGroup connections = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);

    /**
     * Creates the protocol, which serves no documents until {@link #serve} is called.
     *
     * @param readers runs reads, which may block
     * @param transport creates connections to the leader
     * @param cluster null if the server is not part of a cluster
     */
    public HttpProtocol(
            HttpConfig config,
            Executor readers,
            Authenticator authenticator,
            ServerMetrics metrics,
            Transport transport,
            @Nullable Cluster cluster) {
        Readiness readiness = new Readiness(cluster);
        HttpAuthorizer gate = new HttpAuthorizer(authenticator);
        metrics.connections("http", connections::size);
        service = new HttpService(
                config,
                Routes.all(config, gate, readiness, readers, metrics, this::clients, new LeaderProxy(transport)),
                gate,
                readiness,
                metrics);
    }

    @Override
    public Connection connect(Channel channel, ConnectionMemory memory) {
        channel.attr(OPENED_NANOS).set(System.nanoTime());
        connections.add(channel);
        HttpConnection connection = new HttpConnection(channel, service, memory);
        channel.pipeline().addLast(connection.decoder(), new HttpResponseEncoder(), connection);
        return connection;
    }

    @Override
    public Duration idleTimeout() {
        return IDLE_TIMEOUT;
    }

    @Override
    public ByteBuf tooManyConnections() {
        byte[] body = Readiness.unavailable("too_many_connections", "the server has reached its limit of connections")
                .response()
                .body();
        return Unpooled.wrappedBuffer(
                (TOO_MANY_CONNECTIONS + body.length + "\r\n\r\n").getBytes(StandardCharsets.US_ASCII), body);
    }

    /** Starts to serve documents. */
    public void serve(ServerContext served) {
        service.readiness().serve(served);
    }

    private Stream<ClientInfo> clients() {
        long now = System.nanoTime();
        return connections.stream().map(channel -> {
            long opened = channel.attr(OPENED_NANOS).get();
            return new ClientInfo(
                    "http",
                    HostPort.format(channel.remoteAddress()),
                    "",
                    "",
                    "",
                    TimeUnit.NANOSECONDS.toSeconds(now - opened));
        });
    }

    /** Starts to reject every request, because the server is stopping. */
    public void drain() {
        service.readiness().drain();
    }

    int connections() {
        return connections.size();
    }

    List<Route> routes() {
        return service.routes();
    }
}
