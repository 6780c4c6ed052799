package io.caravan.bench.torture;

import io.caravan.bench.torture.HostCall.Answer;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** The harness's connection to a host, for one thread; one call at a time. */
final class HostLink implements AutoCloseable {
    private final Socket socket;
    private final DataInputStream in;

    HostLink(int port) throws IOException {
        socket = new Socket(InetAddress.getLoopbackAddress(), port);
        socket.setTcpNoDelay(true);
        in = new DataInputStream(socket.getInputStream());
    }

    /** Sends a call. When it fails, the host may have got it. */
    void send(HostCall call) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        call.write(new DataOutputStream(bytes));
        socket.getOutputStream().write(bytes.toByteArray());
    }

    /**
     * How the host answers.
     *
     * @throws java.net.SocketTimeoutException when it has not answered yet; ask again
     */
    Answer answer(Duration patience) throws IOException {
        socket.setSoTimeout((int) patience.toMillis());
        Answer answer = Answer.values()[in.readByte()];
        socket.setSoTimeout(0);
        return answer;
    }

    /** What follows {@link Answer#DONE} for a change. */
    long result() throws IOException {
        return in.readLong();
    }

    /** What follows every other answer. */
    String why() throws IOException {
        return in.readUTF();
    }

    /** What follows {@link Answer#DONE} for the state. */
    State state() throws IOException {
        return new State(in.readBoolean(), in.readBoolean(), in.readLong());
    }

    /** Whether a host says that it leads, and takes part in its group, and how many entries it has applied. */
    record State(boolean leads, boolean takesPart, long applied) {}

    /** What follows {@link Answer#DONE} for a read; null for a missing list. */
    @Nullable
    ListModel list() throws IOException {
        long first = in.readLong();
        ListModel list = new ListModel(Math.max(first, 0));
        for (int left = in.readInt(); left > 0; left--) {
            long sequence = in.readLong();
            ByteBuffer value = ByteBuffer.wrap(in.readNBytes(in.readInt()));
            if (sequence != list.nextSequence()) {
                throw new IOException("a read returned sequence " + sequence + " instead of " + list.nextSequence());
            }
            list.append(value);
        }
        return first < 0 ? null : list;
    }

    /** Closes it; nobody cares how. */
    void end() {
        try {
            close();
        } catch (IOException gone) {
            // Nothing is asked any more.
        }
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
