package io.caravan.bench.load;

import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Queue;

/** The client connections over which a load runs, all served by one thread. */
final class Connections implements AutoCloseable {
    /** Size of the buffer for requests that the socket has not accepted yet. */
    private static final int UNSENT_BYTES = 1 << 20;

    private static final int READ_BYTES = 16 * 1024;

    private final Selector selector;
    private final List<Connection> all = new ArrayList<>();

    Connections(InetSocketAddress server, int count, Protocol protocol) throws IOException {
        selector = Selector.open();
        try {
            for (int i = 0; i < count; i++) {
                all.add(new Connection(server, selector, protocol.replies()));
            }
        } catch (IOException notConnected) {
            close();
            throw notConnected;
        }
    }

    List<Connection> all() {
        return Collections.unmodifiableList(all);
    }

    interface Replies {
        /**
         * Called when a reply has arrived. {@code dueNanos} is the time at which its request was due, and {@code error}
         * is true if the reply is an error.
         */
        void replied(Connection connection, long dueNanos, boolean error) throws IOException;
    }

    /**
     * Reads the replies that have arrived, and sends the bytes that the sockets have not accepted yet.
     *
     * @param waitMillis maximum wait for a reply; 0 for no wait
     * @throws IOException if the server closes a connection
     */
    void serve(long waitMillis, Replies replies) throws IOException {
        if (waitMillis > 0) {
            selector.select(waitMillis);
        } else {
            selector.selectNow();
        }
        for (SelectionKey key : selector.selectedKeys()) {
            Connection connection = (Connection) key.attachment();
            connection.receive(replies);
        }
        selector.selectedKeys().clear();
        for (Connection connection : all) {
            connection.sendRest();
        }
    }

    /** Whether any request has no reply yet. */
    boolean waiting() {
        return all.stream().anyMatch(connection -> !connection.pending().isEmpty());
    }

    @Override
    public void close() throws IOException {
        for (Connection connection : all) {
            connection.close();
        }
        selector.close();
    }

    /** A client connection. Tracks the due time of each outstanding request. */
    static final class Connection implements AutoCloseable {

        private final SocketChannel channel;
        private final ByteBuffer unsent = ByteBuffer.allocateDirect(UNSENT_BYTES);
        private final ByteBuffer read = ByteBuffer.allocateDirect(READ_BYTES);
        private final Queue<Long> due = new ArrayDeque<>();
        private final Protocol.ReplyReader reader;

        private Connection(InetSocketAddress server, Selector selector, Protocol.ReplyReader reader)
                throws IOException {
            this.reader = reader;
            channel = SocketChannel.open(server);
            channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
            channel.configureBlocking(false);
            channel.register(selector, SelectionKey.OP_READ, this);
        }

        /**
         * Sends a request that was due at this time.
         *
         * @throws IOException if the connection is closed or the server no longer accepts requests
         */
        void send(byte[] request, long dueNanos) throws IOException {
            if (unsent.remaining() < request.length) {
                throw new IOException("the server no longer accepts requests; " + due.size() + " wait for replies");
            }
            unsent.put(request);
            due.add(dueNanos);
            sendRest();
        }

        /** Sends buffered requests. */
        private void sendRest() throws IOException {
            if (unsent.position() > 0) {
                unsent.flip();
                channel.write(unsent);
                unsent.compact();
            }
        }

        /** Reads the replies that have arrived. */
        private void receive(Replies replies) throws IOException {
            read.clear();
            if (channel.read(read) < 0) {
                throw new EOFException("the server closed a connection");
            }
            reader.read(read.flip(), error -> replies.replied(this, due.remove(), error));
        }

        /** Returns the due times of the requests that have no reply yet. */
        Collection<Long> pending() {
            return due;
        }

        @Override
        public void close() throws IOException {
            channel.close();
        }
    }
}
