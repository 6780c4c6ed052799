package io.caravan.server.app;

import io.caravan.server.net.Network;
import io.caravan.server.protocol.resp.RespClient;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** A client that sends until the server accepts no more bytes, and that detects this without a timeout. */
public final class Flood implements AutoCloseable {
    private static final int TURNS = 10;
    /** The number of consecutive tasks after which an event loop must have checked its sockets. */
    private static final int TASKS = 10;

    /** The client that reads the replies. */
    public final RespClient client;

    private final SocketChannel channel;
    private final ByteBuffer unsent;

    /** Connects to the server and buffers {@code times} copies of the request, without sending them. */
    public Flood(Server server, byte[] request, int times) throws IOException {
        channel = SocketChannel.open(server.respAddress());
        client = new RespClient(channel.socket());
        channel.configureBlocking(false);
        unsent = ByteBuffer.allocate(request.length * times);
        for (int i = 0; i < times; i++) {
            unsent.put(request);
        }
        unsent.flip();
    }

    /** Sends bytes until the server accepts none, even after every event loop has checked its sockets several times. */
    public static void untilStuck(Server server, List<Flood> floods) throws IOException {
        for (int turn = 0; turn < TURNS; turn++) {
            for (Flood flood : floods) {
                if (flood.channel.write(flood.unsent) > 0) {
                    turn = 0;
                }
            }
            turn(server.network());
        }
    }

    /** Waits until each connection's event loop has run its tasks and checked its sockets. */
    public static void turn(Network network) {
        for (int task = 0; task < TASKS; task++) {
            network.connections()
                    .forEach(connection ->
                            connection.eventLoop().submit(() -> {}).syncUninterruptibly());
        }
    }

    public boolean hasSentAll() {
        return !unsent.hasRemaining();
    }

    /** Sends the remaining bytes from another thread, which waits while the server accepts none. */
    public CompletableFuture<Void> sendRest() throws IOException {
        channel.configureBlocking(true);
        return CompletableFuture.runAsync(() -> {
            try {
                while (unsent.hasRemaining()) {
                    channel.write(unsent);
                }
            } catch (IOException broken) {
                throw new UncheckedIOException(broken);
            }
        });
    }

    @Override
    public void close() throws IOException {
        client.close();
    }
}
