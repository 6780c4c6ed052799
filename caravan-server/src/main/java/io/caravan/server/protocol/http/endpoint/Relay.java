package io.caravan.server.protocol.http.endpoint;

import io.caravan.server.cluster.Cluster;
import io.caravan.server.cluster.ClusterHost;
import io.caravan.server.net.Transport;
import io.caravan.server.protocol.http.codec.Answer;
import io.caravan.server.protocol.http.codec.Problem;
import io.caravan.server.protocol.http.codec.Request;
import io.caravan.server.protocol.http.connection.Exchange;
import io.caravan.server.protocol.http.connection.Readiness;
import io.caravan.server.protocol.http.connection.Route;
import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.http.DefaultFullHttpRequest;
import io.netty.handler.codec.http.EmptyHttpHeaders;
import io.netty.handler.codec.http.HttpClientCodec;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpStatusClass;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.ssl.SslContext;
import java.net.ConnectException;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Passes requests for documents on to the host that leads, and its answers back, piece by piece as they come, so that a
 * client may ask any host. Each request has a connection of its own, which ends when another host leads.
 */
public final class Relay {
    private static final String RELAYED = "Caravan-Relayed";
    private static final int CONNECT_MILLIS = 2_000;
    private static final long LOOK_SECONDS = 1;
    /** What is between two hosts only, or what this host says itself. */
    private static final Set<String> OWN_HEADERS = Set.of(
            HttpHeaderNames.CONNECTION.toString(),
            HttpHeaderNames.TRANSFER_ENCODING.toString(),
            HttpHeaderNames.ACCESS_CONTROL_ALLOW_ORIGIN.toString(),
            HttpHeaderNames.ACCESS_CONTROL_EXPOSE_HEADERS.toString(),
            HttpHeaderNames.VARY.toString());

    private final Transport transport;

    /** A relay whose connections are of this kind, as those of the event loops that it runs on. */
    public Relay(Transport transport) {
        this.transport = transport;
    }

    /** The route, which passes on what comes while this host follows. */
    public Route around(Route route, Readiness readiness) {
        return route.with(exchange -> {
            Cluster cluster = readiness.followed();
            if (cluster == null) {
                route.endpoint().handle(exchange);
            } else {
                passOn(exchange, cluster);
            }
        });
    }

    private void passOn(Exchange exchange, Cluster cluster) {
        ClusterHost leader = cluster.leader().orElseThrow(Readiness::noLeader);
        if (exchange.request().header(RELAYED) != null) {
            // The host that sent it here takes this one for the leader still: it must look again.
            throw Readiness.noLeader();
        }
        Link link = new Link(exchange, cluster, leader);
        new Bootstrap()
                .group((EventLoop) exchange.loop())
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

    /** One request's connection to the leader. */
    private static final class Link extends SimpleChannelInboundHandler<HttpObject> {
        private final Exchange exchange;
        private final Cluster cluster;
        private final ClusterHost leader;
        private @Nullable Future<?> look;
        private boolean sent;
        private boolean started;
        private boolean interim;
        private boolean done;

        Link(Exchange exchange, Cluster cluster, ClusterHost leader) {
            this.exchange = exchange;
            this.cluster = cluster;
            this.leader = leader;
        }

        @Override
        public void channelActive(ChannelHandlerContext context) {
            exchange.atEnd(context::close);
            if (exchange.request().query().get("live") != null) {
                exchange.onDrain(() -> endLive(context));
            }
            look = context.executor()
                    .scheduleAtFixedRate(() -> lookAgain(context), LOOK_SECONDS, LOOK_SECONDS, TimeUnit.SECONDS);
            sent = true;
            context.writeAndFlush(request());
            context.read();
        }

        /** The client sends nothing more, or this host stops: what waits for values ends, everything else is finished. */
        private void endLive(ChannelHandlerContext context) {
            if (started && !done) {
                done = true;
                exchange.finish();
            }
            context.close();
        }

        /** A leader whose machine is gone says nothing more, not even that the connection ends. */
        private void lookAgain(ChannelHandlerContext context) {
            if (!cluster.leader().equals(Optional.of(leader))) {
                context.close();
            }
        }

        private DefaultFullHttpRequest request() {
            Request request = exchange.request();
            HttpHeaders headers = request.headers().copy();
            headers.remove(HttpHeaderNames.CONNECTION);
            headers.remove(HttpHeaderNames.TRANSFER_ENCODING);
            headers.remove(HttpHeaderNames.EXPECT);
            headers.set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
            headers.set(RELAYED, cluster.self().id());
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
                interim = head.status().codeClass() == HttpStatusClass.INFORMATIONAL;
                if (!interim) {
                    begin(head);
                }
            }
            if (message instanceof HttpContent content && !done && !interim) {
                exchange.write(content.content().retain());
                if (message instanceof LastHttpContent) {
                    done = true;
                    exchange.finish();
                }
            }
        }

        private void begin(HttpResponse head) {
            int status = head.status().code();
            Answer answer = new Answer(status);
            head.headers().forEach(header -> {
                if (!OWN_HEADERS.contains(header.getKey().toLowerCase(Locale.ROOT))) {
                    answer.header(header.getKey(), header.getValue());
                }
            });
            boolean bodiless = status == 204
                    || status == 304
                    || exchange.request().method().equals(HttpMethod.HEAD);
            if (bodiless) {
                done = true;
                exchange.answer(answer);
            } else {
                started = true;
                exchange.start(answer);
            }
        }

        /** The next piece is read when the client has taken what there is. */
        @Override
        public void channelReadComplete(ChannelHandlerContext context) {
            exchange.whenWritable(context::read);
        }

        @Override
        public void channelInactive(ChannelHandlerContext context) {
            if (look != null) {
                look.cancel(false);
            }
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
            boolean changes = !exchange.request().method().equals(HttpMethod.GET)
                    && !exchange.request().method().equals(HttpMethod.HEAD);
            exchange.fail(new Problem(
                            503,
                            "leader_lost",
                            "host " + leader.id() + ", which leads, did not answer: " + cause.getMessage()
                                    + (changes && sent
                                            ? "; the change may have been made: look before you send it again"
                                            : ""))
                    .with("Retry-After", "1"));
        }
    }
}
