package io.caravan.bench.network;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.FixedRecvByteBufAllocator;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseDecoder;
import io.netty.handler.codec.http.LastHttpContent;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * A kept-alive connection with pipelining; responses arrive in the order of the requests.
 *
 * <p>Requests are encoded in advance, to keep the client's cost as low as possible.
 */
final class HttpLink extends SimpleChannelInboundHandler<HttpObject> {
    /** A fast reader reads large pieces at a time. */
    private static final int RECEIVE_BYTES = 256 * 1024;

    private static final int CONNECT_MILLIS = 10_000;

    private final Channel channel;
    /** Accessed on the event loop only. */
    private final Deque<ResponseListener> waiting = new ArrayDeque<>();

    /**
     * Creates a link, which works once it is in the channel's pipeline after an HTTP response decoder.
     *
     * @param channel receives the requests
     */
    HttpLink(Channel channel) {
        this.channel = channel;
    }

    /** Connects, and returns when connected. Do not call it on an event loop. */
    static HttpLink connect(EventLoopGroup loops, InetSocketAddress server) throws IOException {
        Bootstrap bootstrap = new Bootstrap()
                .group(loops)
                .channel(NioSocketChannel.class)
                .option(ChannelOption.TCP_NODELAY, true)
                .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, CONNECT_MILLIS)
                .option(ChannelOption.RECVBUF_ALLOCATOR, new FixedRecvByteBufAllocator(RECEIVE_BYTES))
                .handler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        HttpDecoderConfig config = new HttpDecoderConfig().setMaxChunkSize(RECEIVE_BYTES);
                        channel.pipeline().addLast(new HttpResponseDecoder(config), new HttpLink(channel));
                    }
                });
        Channel channel = bootstrap.connect(server).awaitUninterruptibly().channel();
        HttpLink link = channel.pipeline().get(HttpLink.class);
        if (!channel.isActive() || link == null) {
            throw new IOException("cannot connect to " + server);
        }
        return link;
    }

    /** Sends a request and releases it. Any thread may call this. */
    void send(ByteBuf request, ResponseListener listener) {
        if (channel.eventLoop().inEventLoop()) {
            sendNow(request, listener);
        } else {
            channel.eventLoop().execute(() -> sendNow(request, listener));
        }
    }

    private void sendNow(ByteBuf request, ResponseListener listener) {
        if (!channel.isActive()) {
            request.release();
            listener.lost("the server has closed the connection");
            return;
        }
        waiting.add(listener);
        channel.writeAndFlush(request);
    }

    @Override
    protected void channelRead0(ChannelHandlerContext context, HttpObject part) throws IOException {
        if (part.decoderResult().isFailure()) {
            throw new IOException(
                    "received something other than an HTTP response",
                    part.decoderResult().cause());
        }
        ResponseListener listener = waiting.peek();
        if (listener == null) {
            throw new IOException("a response without a request: " + part);
        }
        if (part instanceof HttpResponse head) {
            listener.head(head);
        }
        if (part instanceof HttpContent content && content.content().isReadable()) {
            listener.body(content.content());
        }
        if (part instanceof LastHttpContent) {
            waiting.remove();
            listener.end();
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        loseAll("the server has closed the connection");
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        loseAll("the connection was lost: " + cause);
        context.close();
    }

    private void loseAll(String why) {
        for (ResponseListener listener = waiting.poll(); listener != null; listener = waiting.poll()) {
            listener.lost(why);
        }
    }

    /** Runs a task on the connection's event loop. */
    void execute(Runnable task) {
        channel.eventLoop().execute(task);
    }

    /** Closes the connection and notifies the listeners of outstanding responses. */
    void close() {
        channel.close();
    }
}
