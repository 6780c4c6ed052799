package io.caravan.torture.replay;

import io.caravan.bench.client.RespConnection;
import io.caravan.bench.client.RespConnection.Reply;
import io.caravan.testing.ChildJvm;
import io.caravan.testing.ServerProcess;
import io.caravan.torture.server.ReplyPipeline;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Stores a document on a RESP server: RPUSH appends an entry; a transaction with LTRIM appends a snapshot. */
final class RespTarget implements Target {
    private static final byte[] RPUSH = RespConnection.ascii("RPUSH");
    private static final byte[] LTRIM = RespConnection.ascii("LTRIM");
    private static final byte[] LRANGE = RespConnection.ascii("LRANGE");
    private static final byte[] LLEN = RespConnection.ascii("LLEN");
    private static final byte[] PING = RespConnection.ascii("PING");
    private static final byte[] DEL = RespConnection.ascii("DEL");
    private static final byte[] FIRST = RespConnection.ascii("0");
    private static final byte[] LAST = RespConnection.ascii("-1");

    private final @Nullable InetSocketAddress address;
    private final byte[] key;
    private final @Nullable ServerProcess process;
    private @Nullable Link link;
    private long retainedCount;

    private record Link(RespConnection connection, ReplyPipeline<Reply> replies) {}

    private RespTarget(@Nullable InetSocketAddress address, String key, @Nullable ServerProcess process) {
        this.address = address;
        this.key = RespConnection.ascii(key);
        this.process = process;
    }

    /** Returns a target on a server that is already running. */
    static RespTarget running(InetSocketAddress server, String key) {
        return new RespTarget(server, key, null);
    }

    /** Returns a target on a server that the target starts and stops itself. */
    static RespTarget spawned(ServerProcess process, String key) {
        return new RespTarget(null, key, process);
    }

    @Override
    public String description() {
        return (process == null ? "the server at " + address : "a server started for the replay") + ", over RESP";
    }

    @Override
    public void open() throws IOException {
        if (process != null) {
            process.start();
        }
        RespConnection connection = connect();
        link = new Link(connection, new ReplyPipeline<>(connection::receive));
        retainedCount = Long.parseLong(text(call(LLEN, key)));
    }

    private RespConnection connect() throws IOException {
        RespConnection connection = new RespConnection(server());
        connection.send(PING);
        Reply reply = connection.receive();
        if (reply == null || !"PONG".equals(reply.text())) {
            connection.close();
            throw new IOException(description() + " replied to PING with " + reply);
        }
        return connection;
    }

    private InetSocketAddress server() throws IOException {
        return process == null ? Objects.requireNonNull(address) : process.awaitAddress();
    }

    @Override
    public void append(byte[] entry, Acknowledgment acknowledgment) throws IOException {
        send(acknowledgment, RPUSH, key, entry);
        retainedCount++;
    }

    @Override
    public void snapshot(byte[] entry, Acknowledgment acknowledgment) throws IOException {
        byte[] before = RespConnection.ascii(Long.toString(retainedCount));
        append(entry, new OnlyFailures(acknowledgment));
        send(acknowledgment, LTRIM, key, before, LAST);
        retainedCount = 1;
    }

    /** Passes on only failures of the first of two requests, because the reply to the second one reports success. */
    private record OnlyFailures(Acknowledgment acknowledgment) implements Acknowledgment {
        @Override
        public void durable() {
            // The reply to the next request reports the success.
        }

        @Override
        public void failed(String problem) {
            acknowledgment.failed(problem);
        }
    }

    private void send(Acknowledgment acknowledgment, byte[]... words) throws IOException {
        Link current = link();
        current.replies().expect(new ReplyPipeline.Receiver<>() {
            @Override
            public void reply(Reply reply) {
                if (reply.error() == null) {
                    acknowledgment.durable();
                } else {
                    acknowledgment.failed("the server replied: " + reply.error());
                }
            }

            @Override
            public void lost(String why) {
                acknowledgment.failed(why);
            }
        });
        current.connection().send(words);
    }

    private Reply call(byte[]... words) throws IOException {
        Link current = link();
        Reply reply = current.replies().call(() -> current.connection().send(words));
        if (reply.error() != null) {
            throw new IOException("the server replied: " + reply.error());
        }
        return reply;
    }

    private static String text(Reply reply) throws IOException {
        if (reply.text() == null) {
            throw new IOException("expected a number or a string, but the server sent something else");
        }
        return reply.text();
    }

    @Override
    public List<byte[]> retained() throws IOException {
        List<byte[]> values = call(LRANGE, key, FIRST, LAST).values();
        return values == null ? List.of() : values;
    }

    @Override
    public void kill() throws IOException {
        if (process == null) {
            throw new UnsupportedOperationException("cannot kill a server that was started elsewhere");
        }
        link().replies().abandon();
        int status = process.kill();
        if (status != ChildJvm.KILLED) {
            throw new IOException("the server ended with status " + status + " before it was killed");
        }
        link().replies().awaitEnd();
        disconnect();
    }

    @Override
    public void shut() throws IOException {
        if (process != null) {
            link().replies().abandon();
            process.terminate();
        }
        disconnect();
    }

    /** Deletes the document from the server, because it is no longer needed. */
    @Override
    public void close() throws IOException {
        try {
            if (link != null && process == null) {
                call(DEL, key);
            }
        } finally {
            disconnect();
            if (process != null) {
                process.close();
            }
        }
    }

    private void disconnect() throws IOException {
        if (link != null) {
            link.replies().abandon();
            link.connection().close();
            link = null;
        }
    }

    private Link link() {
        if (link == null) {
            throw new IllegalStateException("not connected to the server");
        }
        return link;
    }
}
