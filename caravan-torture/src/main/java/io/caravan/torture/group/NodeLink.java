package io.caravan.torture.group;

import io.caravan.torture.group.NodeCall.Reply;
import io.caravan.torture.model.ListModel;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** The harness's connection to a node, used by one thread, for one call at a time. */
final class NodeLink implements AutoCloseable {
    private final Socket socket;
    private final DataInputStream in;

    NodeLink(int port) throws IOException {
        socket = new Socket(InetAddress.getLoopbackAddress(), port);
        socket.setTcpNoDelay(true);
        in = new DataInputStream(socket.getInputStream());
    }

    /** Sends a call to the node. If this fails, the node may have received the call. */
    void send(NodeCall call) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        call.write(new DataOutputStream(bytes));
        socket.getOutputStream().write(bytes.toByteArray());
    }

    /**
     * Receives the first part of a reply, which states the outcome of the call.
     *
     * @throws java.net.SocketTimeoutException if the result has not arrived yet; the caller may try again
     */
    Reply reply(Duration timeout) throws IOException {
        socket.setSoTimeout((int) timeout.toMillis());
        Reply reply = Reply.values()[in.readByte()];
        socket.setSoTimeout(0);
        return reply;
    }

    /** Receives the result of a change, after the reply {@link Reply#DONE}. */
    long result() throws IOException {
        return in.readLong();
    }

    /** Receives the reason for any reply other than {@link Reply#DONE}. */
    String why() throws IOException {
        return in.readUTF();
    }

    /** Receives the state of the node, after the reply {@link Reply#DONE}. */
    State state() throws IOException {
        return new State(in.readBoolean(), in.readBoolean(), in.readLong());
    }

    /**
     * The state that a node reports: whether it leads, whether it takes part in its group, and the number of entries
     * applied.
     */
    record State(boolean leads, boolean takesPart, long applied) {}

    /** Receives the list that was read, after the reply {@link Reply#DONE}; null if the list is missing. */
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

    /** Closes the connection, and ignores any errors. */
    void end() {
        try {
            close();
        } catch (IOException gone) {
            // The connection is no longer used.
        }
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
