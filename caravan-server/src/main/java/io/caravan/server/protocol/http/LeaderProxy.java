package io.caravan.server.protocol.http;

import io.caravan.catalog.DocumentName;
import io.caravan.server.cluster.Cluster;
import io.caravan.server.cluster.ClusterNode;
import io.caravan.server.cluster.GroupView;
import io.caravan.server.cluster.Slots;
import io.caravan.server.net.Transport;
import io.caravan.server.protocol.http.Routes.Route;
import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.socket.DuplexChannel;
import io.netty.handler.codec.http.DefaultFullHttpRequest;
import io.netty.handler.codec.http.EmptyHttpHeaders;
import io.netty.handler.codec.http.HttpClientCodec;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpStatusClass;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.timeout.IdleStateEvent;
import io.netty.handler.timeout.IdleStateHandler;
import io.netty.util.AsciiString;
import java.net.ConnectException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Forwards requests for documents to the leader of their Raft group, and streams the responses back to the client, so
 * that clients may use any node.
 *
 * <p>A request has exclusive use of a connection until its response is complete; later requests reuse the connection.
 * The connection is closed when another node becomes leader. While there is no leader, requests wait for a short time.
 */
public final class LeaderProxy {
    private static final String RELAYED = "Caravan-Relayed";
    private static final int CONNECT_MILLIS = 2_000;
    /**
     * The time without data after which a connection is closed if its leader has changed, and half the time after which
     * it is closed if it has no request. Twice this time is shorter than the default idle timeout of the leader.
     */
    private static final int CHECK_SECONDS = 1;
    /**
     * The maximum time for which a request waits, and the time without a leader after which requests are rejected. Long
     * enough for two elections at the default timeout.
     */
    private static final Duration TIMEOUT = Duration.ofSeconds(2);

    private static final long RETRY_MILLIS = 20;
    /** Maximum number of idle connections that an event loop keeps open to one node. */
    private static final int MAX_IDLE = 32;
    /** Headers that concern only the connection between two nodes, or that this node sets itself. */
    private static final List<AsciiString> OWN_HEADERS = List.of(
            HttpHeaderNames.CONNECTION,
            HttpHeaderNames.TRANSFER_ENCODING,
            HttpHeaderNames.ACCESS_CONTROL_ALLOW_ORIGIN,
            HttpHeaderNames.ACCESS_CONTROL_EXPOSE_HEADERS,
            HttpHeaderNames.VARY,
            Origins.RESOURCE_POLICY,
            Origins.CONTENT_TYPE_OPTIONS);

    private final Transport transport;
    /** The idle connections from an event loop to a node, starting with the connection that has been idle longest. */
    private final Map<Target, Deque<Link>> pools = new ConcurrentHashMap<>();

    private record Target(EventLoop loop, ClusterNode leader) {}

    /** Creates a proxy. Its connections use this transport, which must be that of the event loops. */
    public LeaderProxy(Transport transport) {
        this.transport = transport;
    }

    /** Returns a route that forwards requests to the leader if this node of a cluster cannot serve them. */
    public Route around(Route route, HttpProtocol http) {
        Cluster cluster = http.cluster;
        return cluster == null ? route : route.with(exchange -> new Forwarding(exchange, route, cluster).begin());
    }

    /**
     * Returns the group of the first document that the request names, or the group in which a listing of documents
     * continues. For other requests, returns the group of this node. Throws {@link Problem} if the name or the cursor
     * is invalid.
     */
    private static GroupView requestedGroup(Cluster cluster, Route route, Request request) {
        if (cluster.groups().size() == 1) {
            return cluster.group();
        }
        if (route.operation().equals(DocumentList.OPERATION)) {
            return cluster.group(DocumentList.Cursor.of(request).slot());
        }
        DocumentName name = null;
        if (route.aboutDocument()) {
            name = StreamName.of(route.rest(request.path));
        } else if (Set.of(StreamBatches.OPERATION, StreamReads.FOLLOW).contains(route.operation())) {
            name = JsonBody.firstName(request.body);
        }
        return name == null ? cluster.group() : cluster.group(Slots.of(name.toBytes()));
    }

    /** A request that is forwarded to the leader, more than once if necessary. */
    private final class Forwarding {
        private final HttpExchange exchange;
        private final Route route;
        private final Cluster cluster;
        private final GroupView group;
        private final boolean live;

        private final Instant begun;

        Forwarding(HttpExchange exchange, Route route, Cluster cluster) {
            this.exchange = exchange;
            this.route = route;
            this.cluster = cluster;
            this.group = requestedGroup(cluster, route, exchange.request);
            this.live = StreamReads.isLive(route, exchange.request);
            this.begun = cluster.now();
        }

        void begin() {
            HttpProtocol http = exchange.protocol;
            boolean here = group == cluster.group() && http.serves();
            if (exchange.request.header(RELAYED) != null && !here) {
                // The sender or this node has outdated information about the leader. The sender must determine the
                // leader again.
                throw Problem.noLeader().with(RELAYED, "refused");
            }
            if (here || http.draining) {
                route.endpoint().accept(exchange);
                return;
            }
            Optional<ClusterNode> leader = group.leader();
            if (leader.isPresent()) {
                forward(leader.get());
            } else if (group.unchangedFor().compareTo(TIMEOUT) > 0 || !early()) {
                throw Problem.noLeader();
            } else {
                // An election usually ends soon, and the request has not been sent to any node.
                retryLater();
            }
        }

        private boolean early() {
            return !cluster.now().isAfter(begun.plus(TIMEOUT));
        }

        private void retryLater() {
            Runnable again = exchange.untilEnd(() -> exchange.run(this::begin));
            exchange.loop().schedule(again, RETRY_MILLIS, TimeUnit.MILLISECONDS);
        }

        private void forward(ClusterNode leader) {
            EventLoop loop = (EventLoop) exchange.loop();
            Deque<Link> pool = pools.computeIfAbsent(new Target(loop, leader), any -> new ArrayDeque<>());
            Link open = pool.pollLast();
            if (open != null) {
                open.send(this);
                return;
            }
            new Bootstrap()
                    .group(loop)
                    .channel(transport.clientType())
                    .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, CONNECT_MILLIS)
                    .option(ChannelOption.TCP_NODELAY, true)
                    .option(ChannelOption.AUTO_READ, false)
                    .handler(new ChannelInitializer<>() {
                        @Override
                        protected void initChannel(Channel channel) {
                            SslContext tls = cluster.tls();
                            if (tls != null) {
                                channel.pipeline()
                                        .addLast(tls.newHandler(
                                                channel.alloc(),
                                                leader.http().host(),
                                                leader.http().port()));
                            }
                            channel.pipeline()
                                    .addLast(
                                            new IdleStateHandler(0, 0, CHECK_SECONDS),
                                            new HttpClientCodec(),
                                            new Link(channel, leader, pool, Forwarding.this));
                        }
                    })
                    .connect(leader.http().host(), leader.http().port())
                    .addListener(connected -> {
                        if (!connected.isSuccess()) {
                            failed(leader, false, connected.cause());
                        }
                    });
        }

        /**
         * Handles the failure of a leader to respond. A read, or a request that was not sent, is retried for a limited
         * time, because a new leader does not accept requests immediately.
         */
        void failed(ClusterNode leader, boolean sent, Throwable cause) {
            boolean mayHaveChanged = sent && !exchange.request.isRead();
            if (early() && !mayHaveChanged && exchange.status == 0) {
                retryLater();
                return;
            }
            String change = mayHaveChanged ? "; the change may have been made: check before you send it again" : "";
            exchange.fail(new Problem(
                            503,
                            "leader_lost",
                            "the leader, node " + leader.id() + ", did not respond: " + cause.getMessage() + change)
                    .retrySoon());
        }
    }

    /** A connection to a node. The connection forwards one request at a time, and waits in its pool between them. */
    private static final class Link extends SimpleChannelInboundHandler<HttpObject> {
        private final Channel channel;
        private final ClusterNode leader;
        private final Deque<Link> pool;
        /** The request in progress; null after the end of its response. */
        private @Nullable Forwarding forwarding;

        private boolean sent;
        private boolean reusable;
        private boolean interim;

        /** Creates a connection that sends the first request when it is open. */
        Link(Channel channel, ClusterNode leader, Deque<Link> pool, Forwarding first) {
            this.channel = channel;
            this.leader = leader;
            this.pool = pool;
            this.forwarding = first;
        }

        @Override
        public void channelActive(ChannelHandlerContext context) {
            send(Objects.requireNonNull(forwarding));
        }

        void send(Forwarding next) {
            forwarding = next;
            // A connection that has just ended may still be in its pool.
            sent = channel.isActive();
            next.exchange.atEnd(() -> {
                if (forwarding == next) {
                    channel.close();
                }
            });
            channel.writeAndFlush(request(next)).addListener(written -> {
                if (next.live) {
                    // The client will send no more data, or this node is stopping. The leader then ends the response,
                    // as it does for its own clients.
                    next.exchange.waitForValues(() -> ((DuplexChannel) channel).shutdownOutput());
                }
            });
            readOn(next);
        }

        /** Reads more of the response. If the request is a read, first waits for memory, as the leader does. */
        private void readOn(Forwarding reading) {
            HttpExchange exchange = reading.exchange;
            if ((exchange.request.isRead() || reading.live) && !exchange.memory.room()) {
                exchange.memory.whenRoom(exchange.untilEnd(() -> readOn(reading)));
            } else {
                channel.read();
            }
        }

        /** Closes an idle connection, and one whose leader has changed: a failed machine closes no connection. */
        @Override
        public void userEventTriggered(ChannelHandlerContext context, Object event) {
            Forwarding waiting = forwarding;
            if (event instanceof IdleStateEvent silent
                    && (waiting == null
                            ? !silent.isFirst()
                            : !waiting.group.leader().equals(Optional.of(leader)))) {
                channel.close();
            }
        }

        private static DefaultFullHttpRequest request(Forwarding forwarding) {
            Request request = forwarding.exchange.request;
            HttpHeaders headers = request.headers.copy();
            headers.remove(HttpHeaderNames.CONNECTION);
            headers.remove(HttpHeaderNames.TRANSFER_ENCODING);
            headers.remove(HttpHeaderNames.EXPECT);
            headers.set(RELAYED, forwarding.cluster.self().id());
            if (request.body.length > 0 || headers.contains(HttpHeaderNames.CONTENT_LENGTH)) {
                headers.set(HttpHeaderNames.CONTENT_LENGTH, request.body.length);
            }
            return new DefaultFullHttpRequest(
                    HttpVersion.HTTP_1_1,
                    request.method(),
                    request.target(),
                    Unpooled.wrappedBuffer(request.body),
                    headers,
                    EmptyHttpHeaders.INSTANCE);
        }

        @Override
        protected void channelRead0(ChannelHandlerContext context, HttpObject message) {
            Forwarding receiving = forwarding;
            if (receiving == null) {
                // The other node must not send data without a request.
                channel.close();
                return;
            }
            if (message.decoderResult().isFailure()) {
                exceptionCaught(context, message.decoderResult().cause());
                return;
            }
            if (message instanceof HttpResponse head) {
                if (head.headers().contains(RELAYED)) {
                    sent = false;
                    exceptionCaught(context, new ConnectException("it is not the leader"));
                    return;
                }
                interim = head.status().codeClass() == HttpStatusClass.INFORMATIONAL;
                if (!interim) {
                    reusable = HttpUtil.isKeepAlive(head) && !receiving.live;
                    OWN_HEADERS.forEach(head.headers()::remove);
                    receiving.exchange.start(new Response(head.status().code(), head.headers()));
                }
            }
            if (interim) {
                return;
            }
            if (message instanceof HttpContent content) {
                receiving.exchange.write(content.content().retain());
            }
            if (message instanceof LastHttpContent) {
                forwarding = null;
                receiving.exchange.finish();
                release();
            }
        }

        /** Returns the connection to its pool, or closes it, after a complete response. */
        private void release() {
            if (reusable && channel.isActive() && pool.size() < MAX_IDLE) {
                pool.addLast(this);
                // Only a read detects the end of the connection.
                channel.read();
            } else {
                channel.close();
            }
        }

        /** Reads more when the client has received most of the data sent so far. */
        @Override
        public void channelReadComplete(ChannelHandlerContext context) {
            Forwarding receiving = forwarding;
            if (receiving == null) {
                return;
            }
            // A former leader that keeps sending is never silent.
            if (receiving.group.leader().filter(now -> !now.equals(leader)).isPresent()) {
                channel.close();
            } else {
                receiving.exchange.whenWritable(() -> readOn(receiving));
            }
        }

        @Override
        public void channelInactive(ChannelHandlerContext context) {
            fail(new ConnectException("the connection ended"));
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            fail(cause);
            channel.close();
        }

        private void fail(Throwable cause) {
            pool.remove(this);
            Forwarding failed = forwarding;
            forwarding = null;
            if (failed != null) {
                failed.failed(leader, sent, cause);
            }
        }
    }
}
