package io.caravan.bench.replay;

import io.caravan.bench.ChildJvm;
import io.caravan.bench.Frames;
import io.caravan.bench.LocalSocket;
import io.caravan.bench.Pipeline;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A document in a store inside a child JVM, which can be killed. */
final class HostedTarget implements Target {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    private final LocalSocket socket;
    private final Path directory;
    private final Path log;
    private @Nullable Host host;

    /** A running child and the connection to it. */
    private record Host(ChildJvm child, SocketChannel channel, Frames.Writer requests, Pipeline<Reply> replies) {}

    private record Reply(HostMessage message, ByteBuffer body) {}

    HostedTarget(Path directory, Path log) throws IOException {
        this.directory = directory;
        this.log = log;
        socket = LocalSocket.listen();
    }

    @Override
    public String description() {
        return "embedded in a child process";
    }

    @Override
    public void open() throws IOException {
        ChildJvm child =
                ChildJvm.start(StoreHost.class.getName(), List.of(socket.path().toString(), directory.toString()), log);
        SocketChannel channel = socket.accept(child, PATIENCE);
        if (channel == null) {
            throw new IOException("the store's process exited immediately; its output is in " + log);
        }
        Frames.Reader replies = new Frames.Reader(channel);
        host = new Host(child, channel, new Frames.Writer(channel), new Pipeline<>(() -> next(replies)));
    }

    private static @Nullable Reply next(Frames.Reader replies) throws IOException {
        Frames.Frame frame = replies.next();
        if (frame == null) {
            return null;
        }
        ByteBuffer copy = ByteBuffer.allocate(frame.body().remaining());
        return new Reply(HostMessage.of(frame.type()), copy.put(frame.body()).flip());
    }

    @Override
    public void append(byte[] entry, Acknowledgement acknowledgement) throws IOException {
        send(HostMessage.APPEND, entry, acknowledgement);
    }

    @Override
    public void snapshot(byte[] entry, Acknowledgement acknowledgement) throws IOException {
        send(HostMessage.SNAPSHOT, entry, acknowledgement);
    }

    private void send(HostMessage message, byte[] entry, Acknowledgement acknowledgement) throws IOException {
        Host running = host();
        running.replies().expect(new Pipeline.Receiver<>() {
            @Override
            public void reply(Reply reply) {
                if (reply.message() == HostMessage.DURABLE) {
                    acknowledgement.durable();
                } else {
                    acknowledgement.failed(
                            StandardCharsets.UTF_8.decode(reply.body()).toString());
                }
            }

            @Override
            public void lost(String why) {
                acknowledgement.failed(why + "; the store's output is in " + log);
            }
        });
        running.requests().write(message.type(), ByteBuffer.wrap(entry));
    }

    @Override
    public List<byte[]> retained() throws IOException {
        Host running = host();
        ByteBuffer body = running.replies()
                .call(() -> running.requests().write(HostMessage.READ.type(), NOTHING))
                .body();
        List<byte[]> entries = new ArrayList<>();
        while (body.hasRemaining()) {
            byte[] entry = new byte[body.getInt()];
            body.get(entry);
            entries.add(entry);
        }
        return entries;
    }

    @Override
    public void kill() throws IOException {
        Host running = host();
        running.replies().abandon();
        int status = running.child().kill();
        running.replies().awaitEnd();
        running.channel().close();
        host = null;
        if (status != ChildJvm.KILLED) {
            throw new IOException("the store's process ended with status " + status
                    + " before it was killed; its output" + " is in " + log);
        }
    }

    @Override
    public void shut() throws IOException {
        Host running = host();
        running.replies().abandon();
        running.channel().shutdownOutput();
        int status = running.child().awaitExit();
        running.channel().close();
        host = null;
        if (status != 0) {
            throw new IOException(
                    "the store's process ended with status " + status + " when closed; its output is in " + log);
        }
    }

    @Override
    public void close() throws IOException {
        if (host != null) {
            host.replies().abandon();
            host.child().close();
            host.channel().close();
            host = null;
        }
        socket.close();
    }

    private Host host() {
        if (host == null) {
            throw new IllegalStateException("the store's process is not running");
        }
        return host;
    }
}
