package io.caravan.bench.load;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;

/**
 * An in-process server with which a client can warm up. It replies to each request as soon as the request's {@linkplain
 * Protocol#mark mark} arrives. It runs on one thread.
 */
final class Echo implements AutoCloseable {
    private static final int BUFFER_BYTES = 64 * 1024;

    private final Selector selector;
    private final ServerSocketChannel server;
    private final ByteBuffer in = ByteBuffer.allocateDirect(BUFFER_BYTES);
    private final ByteBuffer out;
    private final byte mark;
    private final byte[] reply;

    private volatile boolean closing;

    private Echo(Selector selector, ServerSocketChannel server, Protocol protocol) {
        this.selector = selector;
        this.server = server;
        mark = protocol.mark();
        reply = protocol.reply();
        // Each byte may be the mark of a request.
        out = ByteBuffer.allocateDirect(BUFFER_BYTES * reply.length);
    }

    /** Listens on a free loopback port and starts to reply. */
    static Echo start(Protocol protocol) throws IOException {
        Selector selector = Selector.open();
        ServerSocketChannel server = ServerSocketChannel.open();
        server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        server.configureBlocking(false);
        server.register(selector, SelectionKey.OP_ACCEPT);
        Echo echo = new Echo(selector, server, protocol);
        Thread thread = new Thread(echo::serve, "bench-echo");
        thread.setDaemon(true);
        thread.start();
        return echo;
    }

    InetSocketAddress address() throws IOException {
        return (InetSocketAddress) server.getLocalAddress();
    }

    private void serve() {
        try (selector;
                server) {
            while (!closing) {
                selector.select(this::serve);
            }
            for (SelectionKey key : selector.keys()) {
                key.channel().close();
            }
        } catch (IOException broken) {
            throw new UncheckedIOException("the server to warm up on has failed", broken);
        }
    }

    private void serve(SelectionKey key) {
        try {
            if (key.isAcceptable()) {
                SocketChannel client = server.accept();
                client.configureBlocking(false);
                client.register(selector, SelectionKey.OP_READ);
            } else {
                reply((SocketChannel) key.channel());
            }
        } catch (IOException gone) {
            key.cancel();
        }
    }

    private void reply(SocketChannel client) throws IOException {
        if (client.read(in.clear()) < 0) {
            client.close();
            return;
        }
        out.clear();
        for (in.flip(); in.hasRemaining(); ) {
            if (in.get() == mark) {
                out.put(reply);
            }
        }
        out.flip();
        while (out.hasRemaining()) {
            client.write(out);
        }
    }

    /** Makes the server's thread close the server. */
    @Override
    public void close() {
        closing = true;
        selector.wakeup();
    }
}
