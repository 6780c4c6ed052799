package io.caravan.bench.load;

import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/**
 * Follows streams of the Durable Streams protocol by server-sent events, with one connection for each follower. Uses
 * one thread and one buffer, so that thousands of idle followers cost the client little.
 */
public final class Followers implements AutoCloseable {
    private static final int DIGITS = 3;
    private static final int READ_BYTES = 1 << 16;
    private static final long TIMEOUT_NANOS = TimeUnit.SECONDS.toNanos(30);
    private static final long POLL_MILLIS = 100;
    /** The end of a control event. The first one reports that the follower has reached the end of the stream. */
    private static final byte CONTROL_END = '}';

    /** The beginning of a successful response. It is attached to the key of a connection that has received it. */
    private static final String SUCCESS = "HTTP/1.1 2";

    private final HttpAppends appends;
    private final InetSocketAddress server;
    private final Selector selector = Selector.open();
    private final List<SocketChannel> channels = new ArrayList<>();
    private final ByteBuffer read = ByteBuffer.allocateDirect(READ_BYTES);

    /**
     * Connects followers to existing streams, and waits until each has reached the end of its stream.
     *
     * @param count number of followers, distributed evenly over the streams
     */
    public Followers(InetSocketAddress server, HttpAppends appends, int count) throws IOException {
        this.server = server;
        this.appends = appends;
        try {
            for (int i = 0; i < count; i++) {
                String stream = appends.streams().get(i % appends.streams().size());
                String request = "GET " + stream + "?offset=now&live=sse HTTP/1.1\r\nHost: localhost\r\n\r\n";
                connect().write(ByteBuffer.wrap(request.getBytes(StandardCharsets.US_ASCII)));
            }
            await(CONTROL_END, count, System.nanoTime(), new Histogram(DIGITS));
        } catch (IOException failed) {
            close();
            throw failed;
        }
    }

    private SocketChannel connect() throws IOException {
        SocketChannel channel = SocketChannel.open(server);
        channels.add(channel);
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        channel.configureBlocking(false);
        channel.register(selector, SelectionKey.OP_READ);
        return channel;
    }

    /**
     * Appends values to the first stream, each after all followers have received the previous one. Returns the times
     * from sending an append until a follower received it, in nanoseconds.
     *
     * @param followers number of followers of the stream
     * @param pauseMillis pause before each append
     */
    public Histogram latencies(int count, int followers, long pauseMillis) throws IOException, InterruptedException {
        Histogram nanos = new Histogram(DIGITS);
        try (SocketChannel appender = connect()) {
            for (int i = 0; i < count; i++) {
                TimeUnit.MILLISECONDS.sleep(pauseMillis);
                long start = System.nanoTime();
                appender.write(ByteBuffer.wrap(appends.append(0)));
                await(HttpAppends.LAST_BYTE, followers, start, nanos);
            }
        }
        return nanos;
    }

    /** Waits until this byte has been received so many times, and records the time of each since the start. */
    private void await(byte mark, int count, long startNanos, Histogram nanos) throws IOException {
        int received = 0;
        while (received < count) {
            selector.select(POLL_MILLIS);
            for (SelectionKey key : selector.selectedKeys()) {
                int marks = receive(key, mark);
                if (marks > 0) {
                    nanos.recordValueWithCount(System.nanoTime() - startNanos, marks);
                    received += marks;
                }
            }
            selector.selectedKeys().clear();
            if (System.nanoTime() - startNanos > TIMEOUT_NANOS) {
                throw new IOException("only " + received + " of " + count + " followers received an event");
            }
        }
    }

    /** Reads what a connection has received, and returns how often it contains this byte. */
    private int receive(SelectionKey key, byte mark) throws IOException {
        SocketChannel channel = (SocketChannel) key.channel();
        if (channel.read(read.clear()) < 0) {
            throw new EOFException("the server closed the connection of a follower");
        }
        read.flip();
        if (key.attachment() == null) {
            String head = StandardCharsets.US_ASCII.decode(read.duplicate()).toString();
            if (!head.startsWith(SUCCESS)) {
                throw new IOException("the server responded: " + head);
            }
            key.attach(SUCCESS);
        }
        int marks = 0;
        while (read.hasRemaining()) {
            marks += read.get() == mark ? 1 : 0;
        }
        return marks;
    }

    @Override
    public void close() throws IOException {
        for (SocketChannel channel : channels) {
            channel.close();
        }
        selector.close();
    }
}
