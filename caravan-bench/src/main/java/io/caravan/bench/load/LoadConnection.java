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
import java.util.Collection;
import java.util.Queue;

/** One connection of a load. Tracks the due time of each outstanding request. */
final class LoadConnection implements AutoCloseable {
    /** Size of the buffer for requests that the socket does not accept yet. */
    private static final int UNSENT_BYTES = 1 << 20;

    private static final int READ_BYTES = 16 * 1024;

    interface Answers {
        /**
         * Called when a reply has arrived. {@code dueNanos} is the time at which its request was due, and {@code error}
         * is true if the reply is an error.
         */
        void answered(long dueNanos, boolean error) throws IOException;
    }

    private final SocketChannel channel;
    private final ByteBuffer unsent = ByteBuffer.allocateDirect(UNSENT_BYTES);
    private final ByteBuffer read = ByteBuffer.allocateDirect(READ_BYTES);
    private final Queue<Long> due = new ArrayDeque<>();
    private final AnswerReader reader;

    LoadConnection(InetSocketAddress server, Selector selector, AnswerReader reader) throws IOException {
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
            throw new IOException("the server no longer accepts requests; " + due.size() + " wait for answers");
        }
        unsent.put(request);
        due.add(dueNanos);
        sendRest();
    }

    /** Sends buffered requests. */
    void sendRest() throws IOException {
        if (unsent.position() > 0) {
            unsent.flip();
            channel.write(unsent);
            unsent.compact();
        }
    }

    /** Reads the replies that have arrived. */
    void receive(Answers answers) throws IOException {
        read.clear();
        if (channel.read(read) < 0) {
            throw new EOFException("the server closed a connection");
        }
        reader.read(read.flip(), error -> answers.answered(due.remove(), error));
    }

    /** Returns the due times of the requests that have no reply yet. */
    Collection<Long> unanswered() {
        return due;
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
