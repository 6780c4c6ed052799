package io.caravan.server.protocol.http;

import io.caravan.catalog.DocumentName;
import io.caravan.server.cluster.Cluster;
import io.caravan.server.cluster.ClusterNode;
import io.caravan.server.cluster.GroupView;
import io.caravan.server.cluster.Slots;
import io.caravan.server.net.Transport;
import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
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
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpStatusClass;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.ssl.SslContext;
import io.netty.util.ReferenceCountUtil;
import java.net.ConnectException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
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
    private static final long CHECK_SECONDS = 1;
    /**
     * The maximum time for which a request waits, and the time without a leader after which requests are rejected. Long
     * enough for two elections at the default timeout.
     */
    private static final Duration TIMEOUT = Duration.ofSeconds(2);

    private static final long RETRY_MILLIS = 20;
    /**
     * Time after which an idle connection is closed, at the next check. Shorter than the default idle timeout of the
     * leader.
     */
    private static final Duration IDLE = Duration.ofSeconds(2);
    /** Maximum number of idle connections that an event loop keeps open to one node. */
    private static final int MAX_IDLE = 32;
    /** Headers that concern only the connection between two nodes, or that this node sets itself. */
    private static final Set<String> OWN_HEADERS = Set.of(
            HttpHeaderNames.CONNECTION.toString(),
            HttpHeaderNames.TRANSFER_ENCODING.toString(),
            HttpHeaderNames.ACCESS_CONTROL_ALLOW_ORIGIN.toString(),
            HttpHeaderNames.ACCESS_CONTROL_EXPOSE_HEADERS.toString(),
            HttpHeaderNames.VARY.toString());

    private final Transport transport;
    private final Map<Target, Pool> pools = new ConcurrentHashMap<>();

    private record Target(EventLoop loop, ClusterNode leader) {}

    /** The connections from one event loop to one node. A single task checks all of them. */
    private static final class Pool {
        private final Set<Link> busy = new HashSet<>();
        /** The idle connections, starting with the connection that has been idle longest. */
        private final Deque<Idle> idle = new ArrayDeque<>();

        Pool(EventLoop loop) {
            loop.scheduleWithFixedDelay(this::check, CHECK_SECONDS, CHECK_SECONDS, TimeUnit.SECONDS);
        }

        private void check() {
            List.copyOf(busy).forEach(Link::closeIfLeaderChanged);
            long before = System.nanoTime() - IDLE.toNanos();
            while (!idle.isEmpty() && idle.element().sinceNanos - before <= 0) {
                idle.element().end();
            }
        }
    }

    /** Creates a proxy. Its connections use this transport, which must be that of the event loops. */
    public LeaderProxy(Transport transport) {
        this.transport = transport;
    }

    /** Returns a route that forwards requests to the leader if this node of a cluster cannot serve them. */
    public Route around(Route route, HttpProtocol http) {
        Cluster cluster = http.cluster;
        return cluster == null ? route : route.with(exchange -> new Forwarding(exchange, route, http, cluster).begin());
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
            return cluster.group(DocumentList.Cursor.of(request.query()).slot());
        }
        DocumentName name = null;
        if (route.aboutDocument()) {
            name = StreamName.of(route.rest(request.path()));
        } else if (Set.of(StreamBatches.OPERATION, StreamReads.FOLLOW).contains(route.operation())) {
            name = JsonBody.firstName(request.body());
        }
        return name == null ? cluster.group() : cluster.group(Slots.of(name.toBytes()));
    }

    /** A request that is forwarded to the leader, more than once if necessary. */
    private final class Forwarding {
        private final HttpExchange exchange;
        private final Route route;
        private final HttpProtocol http;
        private final Cluster cluster;
        private final GroupView group;
        /** Whether the request waits for new values. */
        private final boolean live;

        private @Nullable Instant begun;

        Forwarding(HttpExchange exchange, Route route, HttpProtocol http, Cluster cluster) {
            this.exchange = exchange;
            this.route = route;
            this.http = http;
            this.cluster = cluster;
            this.group = requestedGroup(cluster, route, exchange.request());
            this.live = StreamReads.isLive(route, exchange.request());
        }

        void begin() {
            boolean here = group == cluster.group() && http.serves();
            if (exchange.request().header(RELAYED) != null && !here) {
                // The sender or this node has outdated information about the leader. The sender must determine the
                // leader again.
                throw Problem.noLeader().with(RELAYED, "refused");
            }
            if (here || http.draining()) {
                route.endpoint().handle(exchange);
                return;
            }
            if (begun == null) {
                begun = cluster.now();
            }
            Optional<ClusterNode> leader = group.leader();
            if (leader.isPresent()) {
                forward(leader.get());
            } else if (group.unchangedFor().compareTo(TIMEOUT) > 0
                    || cluster.now().isAfter(begun.plus(TIMEOUT))) {
                throw Problem.noLeader();
            } else {
                // An election usually ends soon, and the request has not been sent to any node.
                retryLater();
            }
        }

        private void retryLater() {
            Runnable again = exchange.untilEnd(() -> exchange.run(this::begin));
            exchange.loop().schedule(again, RETRY_MILLIS, TimeUnit.MILLISECONDS);
        }

        private void forward(ClusterNode leader) {
            EventLoop loop = (EventLoop) exchange.loop();
            Pool pool = pools.computeIfAbsent(new Target(loop, leader), target -> new Pool(loop));
            Link link = new Link(this, leader, pool);
            Idle open = pool.idle.pollLast();
            if (open != null) {
                open.channel.pipeline().removeLast();
                open.channel.pipeline().addLast(link);
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
                            channel.pipeline().addLast(new HttpClientCodec(), link);
                        }
                    })
                    .connect(leader.http().host(), leader.http().port())
                    .addListener(connected -> {
                        if (!connected.isSuccess()) {
                            link.fail(connected.cause());
                        }
                    });
        }

        /**
         * Handles the failure of a leader to respond. A read, or a request that was not sent, is retried for a limited
         * time, because a new leader does not accept requests immediately.
         */
        void failed(boolean sent, Problem problem) {
            boolean mayHaveChanged = sent && !isRead();
            boolean early = begun != null && cluster.now().isBefore(begun.plus(TIMEOUT));
            if (early && !mayHaveChanged && exchange.status() == 0) {
                retryLater();
            } else {
                exchange.fail(problem);
            }
        }

        private boolean isRead() {
            HttpMethod method = exchange.request().method();
            return method.equals(HttpMethod.GET) || method.equals(HttpMethod.HEAD);
        }
    }

    /** Keeps an idle connection in its pool until the connection is reused or closed. */
    private static final class Idle extends ChannelInboundHandlerAdapter {
        private final Channel channel;
        private final Pool pool;
        private final long sinceNanos = System.nanoTime();

        Idle(Channel channel, Pool pool) {
            this.channel = channel;
            this.pool = pool;
        }

        @Override
        public void handlerAdded(ChannelHandlerContext context) {
            pool.idle.addLast(this);
            // Only a read detects the end of the connection.
            context.read();
        }

        private void end() {
            if (pool.idle.remove(this)) {
                channel.close();
            }
        }

        /** Closes the connection, because the other node must not send data without a request. */
        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            ReferenceCountUtil.release(message);
            end();
        }

        @Override
        public void channelInactive(ChannelHandlerContext context) {
            pool.idle.remove(this);
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            end();
        }
    }

    /** A request in progress on a connection to the leader. */
    private static final class Link extends SimpleChannelInboundHandler<HttpObject> {
        private final Forwarding forwarding;
        private final HttpExchange exchange;
        private final ClusterNode leader;
        private final Pool pool;
        private @Nullable ChannelHandlerContext context;
        private boolean sent;
        private @Nullable Response bodiless;
        private boolean reusable;
        private boolean released;
        private boolean started;
        private boolean interim;
        private boolean done;

        /** Creates a link. The {@code pool} receives the connection when the response is complete. */
        Link(Forwarding forwarding, ClusterNode leader, Pool pool) {
            this.pool = pool;
            this.forwarding = forwarding;
            this.exchange = forwarding.exchange;
            this.leader = leader;
        }

        @Override
        public void handlerAdded(ChannelHandlerContext context) {
            if (context.channel().isActive()) {
                send(context);
            }
        }

        @Override
        public void channelActive(ChannelHandlerContext context) {
            send(context);
        }

        private void send(ChannelHandlerContext context) {
            exchange.atEnd(() -> {
                if (!released) {
                    context.close();
                }
            });
            this.context = context;
            pool.busy.add(this);
            sent = true;
            context.writeAndFlush(request()).addListener(written -> {
                if (forwarding.live) {
                    exchange.waitForValues(() -> endLive(context));
                }
            });
            readOn(context);
        }

        /** Reads more of the response. If the request is a read, first waits for memory, as the leader does. */
        private void readOn(ChannelHandlerContext context) {
            if ((forwarding.isRead() || forwarding.live) && !exchange.memory().room()) {
                exchange.memory().whenRoom(exchange.untilEnd(() -> readOn(context)));
            } else {
                context.read();
            }
        }

        /**
         * Ends a request that waits for values, because the client will send no more data or this node is stopping. The
         * leader then ends the response, as it does for its own clients.
         */
        private void endLive(ChannelHandlerContext context) {
            ((DuplexChannel) context.channel()).shutdownOutput();
        }

        /**
         * Closes the connection if the leader has changed. A leader whose machine has failed does not close the
         * connection itself.
         */
        private void closeIfLeaderChanged() {
            if (context != null && !forwarding.group.leader().equals(Optional.of(leader))) {
                context.close();
            }
        }

        private DefaultFullHttpRequest request() {
            Request request = exchange.request();
            HttpHeaders headers = request.headers().copy();
            headers.remove(HttpHeaderNames.CONNECTION);
            headers.remove(HttpHeaderNames.TRANSFER_ENCODING);
            headers.remove(HttpHeaderNames.EXPECT);
            headers.set(RELAYED, forwarding.cluster.self().id());
            if (request.body().length > 0 || headers.contains(HttpHeaderNames.CONTENT_LENGTH)) {
                headers.set(HttpHeaderNames.CONTENT_LENGTH, request.body().length);
            }
            return new DefaultFullHttpRequest(
                    HttpVersion.HTTP_1_1,
                    request.method(),
                    request.target(),
                    Unpooled.wrappedBuffer(request.body()),
                    headers,
                    EmptyHttpHeaders.INSTANCE);
        }

        @Override
        protected void channelRead0(ChannelHandlerContext context, HttpObject message) {
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
                    reusable = HttpUtil.isKeepAlive(head) && !forwarding.live;
                    begin(head);
                }
            }
            if (message instanceof HttpContent content && !interim) {
                boolean whole = message instanceof LastHttpContent;
                released = whole && reusable && pool.idle.size() < MAX_IDLE;
                if (!done) {
                    done = whole;
                    pass(content, whole);
                }
                if (released) {
                    pool.busy.remove(this);
                    context.pipeline().replace(this, null, new Idle(context.channel(), pool));
                }
            }
        }

        private void pass(HttpContent content, boolean whole) {
            if (started) {
                exchange.write(content.content().retain());
                if (whole) {
                    exchange.finish();
                }
            } else if (whole) {
                exchange.respond(Objects.requireNonNull(bodiless));
            }
        }

        private void begin(HttpResponse head) {
            int status = head.status().code();
            Response response = new Response(status);
            head.headers().forEach(header -> {
                if (!OWN_HEADERS.contains(header.getKey().toLowerCase(Locale.ROOT))) {
                    response.header(header.getKey(), header.getValue());
                }
            });
            if (status == 204 || status == 304 || exchange.request().method().equals(HttpMethod.HEAD)) {
                bodiless = response;
            } else {
                started = true;
                exchange.start(response);
            }
        }

        /** Reads more when the client has received most of the data sent so far. */
        @Override
        public void channelReadComplete(ChannelHandlerContext context) {
            exchange.whenWritable(() -> readOn(context));
        }

        @Override
        public void channelInactive(ChannelHandlerContext context) {
            pool.busy.remove(this);
            if (!done) {
                done = true;
                fail(new ConnectException("the connection ended"));
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            if (!done) {
                done = true;
                fail(cause);
            }
            context.close();
        }

        void fail(Throwable cause) {
            forwarding.failed(
                    sent,
                    new Problem(
                                    503,
                                    "leader_lost",
                                    "the leader, node " + leader.id() + ", did not respond: " + cause.getMessage()
                                            + (sent && !forwarding.isRead()
                                                    ? "; the change may have been made: check before you send it again"
                                                    : ""))
                            .with("Retry-After", "1"));
        }
    }
}
