package io.caravan.bench.replay;

import io.caravan.DurableListStore;
import io.caravan.bench.Frames;
import io.caravan.bench.Frames.Frame;
import io.caravan.bench.LocalSocket;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;

/** The child process with the store of a {@link HostedTarget}, which can be killed. */
final class StoreHost {
    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    private final EmbeddedTarget target;
    private final Frames.Writer replies;

    private StoreHost(EmbeddedTarget target, Frames.Writer replies) {
        this.target = target;
        this.replies = replies;
    }

    /** Arguments: the socket to connect to, and the store's directory. */
    public static void main(String[] arguments) throws IOException {
        Path directory = Path.of(arguments[1]);
        try (EmbeddedTarget target = new EmbeddedTarget("hosted", () -> DurableListStore.open(directory));
                SocketChannel channel = LocalSocket.connect(Path.of(arguments[0]))) {
            target.open();
            new StoreHost(target, new Frames.Writer(channel)).serve(new Frames.Reader(channel));
        }
    }

    private void serve(Frames.Reader requests) throws IOException {
        for (Frame frame = requests.next(); frame != null; frame = requests.next()) {
            byte[] body = new byte[frame.body().remaining()];
            frame.body().get(body);
            switch (HostMessage.of(frame.type())) {
                case APPEND -> target.append(body, new Answer());
                case SNAPSHOT -> target.snapshot(body, new Answer());
                case READ -> send(HostMessage.ENTRIES, encode(target.retained()));
                default -> throw new IOException("not a request: " + frame.type());
            }
        }
    }

    private static ByteBuffer encode(List<byte[]> entries) {
        int bytes =
                entries.stream().mapToInt(entry -> Integer.BYTES + entry.length).sum();
        ByteBuffer body = ByteBuffer.allocate(bytes);
        entries.forEach(entry -> body.putInt(entry.length).put(entry));
        return body.flip();
    }

    private void send(HostMessage message, ByteBuffer body) {
        try {
            replies.write(message.type(), body);
        } catch (IOException gone) {
            throw new UncheckedIOException(gone);
        }
    }

    private final class Answer implements Target.Acknowledgement {
        @Override
        public void durable() {
            send(HostMessage.DURABLE, NOTHING);
        }

        @Override
        public void failed(String problem) {
            send(HostMessage.FAILED, ByteBuffer.wrap(problem.getBytes(StandardCharsets.UTF_8)));
        }
    }
}
