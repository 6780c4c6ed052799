package io.caravan.bench.network;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/** Connections that have each made one request, received the answer, and stay idle. */
final class IdleConnections implements AutoCloseable {
    private static final int AT_ONCE = 64;
    private static final long PATIENCE_SECONDS = 60;
    private static final long QUIET_MILLIS = 0;
    private static final long CLOSE_MILLIS = 10_000;

    private final EventLoopGroup loops = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
    private final List<Channel> channels = new ArrayList<>();
    /** One permit for each connection that may wait for its answer at the same time. */
    private final Semaphore permits = new Semaphore(AT_ONCE);

    private IdleConnections() {}

    /**
     * Opens all connections, and waits until each has received its answer.
     *
     * @param request sent by each connection
     */
    static IdleConnections open(InetSocketAddress server, String request, int count)
            throws IOException, InterruptedException {
        IdleConnections connections = new IdleConnections();
        try {
            connections.openAll(server, request, count);
        } catch (IOException | InterruptedException notOpen) {
            connections.close();
            throw notOpen;
        }
        return connections;
    }

    private void openAll(InetSocketAddress server, String request, int count) throws IOException, InterruptedException {
        Bootstrap bootstrap = new Bootstrap()
                .group(loops)
                .channel(NioSocketChannel.class)
                .handler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        channel.pipeline().addLast(new Asking(request));
                    }
                });
        for (int i = 0; i < count; i++) {
            acquire(1);
            channels.add(bootstrap.connect(server).channel());
        }
        acquire(AT_ONCE);
        if (open() < count) {
            throw new IOException("the server closed " + (count - open()) + " of " + count + " connections");
        }
    }

    private void acquire(int count) throws IOException, InterruptedException {
        if (!permits.tryAcquire(count, PATIENCE_SECONDS, TimeUnit.SECONDS)) {
            throw new IOException("after " + channels.size() + " connections, " + (AT_ONCE - permits.availablePermits())
                    + " were not opened or not answered within " + PATIENCE_SECONDS + " s");
        }
    }

    /** Number of connections that neither side has closed. */
    long open() {
        return channels.stream().filter(Channel::isActive).count();
    }

    /** Sends its request once connected, and releases its permit when the answer starts. */
    private final class Asking extends SimpleChannelInboundHandler<ByteBuf> {
        private final String request;
        private boolean answered;

        Asking(String request) {
            this.request = request;
        }

        @Override
        public void channelActive(ChannelHandlerContext context) {
            context.writeAndFlush(Unpooled.wrappedBuffer(request.getBytes(StandardCharsets.US_ASCII)));
        }

        @Override
        protected void channelRead0(ChannelHandlerContext context, ByteBuf answer) {
            if (!answered) {
                answered = true;
                permits.release();
            }
        }
    }

    @Override
    public void close() {
        channels.forEach(Channel::close);
        loops.shutdownGracefully(QUIET_MILLIS, CLOSE_MILLIS, TimeUnit.MILLISECONDS)
                .awaitUninterruptibly();
    }
}
