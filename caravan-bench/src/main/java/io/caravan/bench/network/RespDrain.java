package io.caravan.bench.network;

import io.caravan.bench.server.RespConnection;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;

/** Reads a whole document with {@code LRANGE}. Parses only the first line, and counts the rest. */
final class RespDrain implements Drain {
    private static final byte[] REQUEST = RespConnection.ascii("LRANGE " + BigDocument.NAME + " 0 -1\r\n");
    private static final int RECEIVE_BYTES = 1 << 20;
    private static final String LINE_END = "\r\n";

    private final BigDocument document;

    RespDrain(BigDocument document) {
        this.document = document;
    }

    @Override
    public long read(RunningServer server) throws IOException {
        String begin = "*" + document.count() + LINE_END;
        String value = "$" + document.valueBytes() + LINE_END;
        long expected =
                begin.length() + document.count() * (value.length() + document.valueBytes() + LINE_END.length());
        ByteBuffer buffer = ByteBuffer.allocateDirect(RECEIVE_BYTES);
        try (SocketChannel channel = SocketChannel.open(server.resp())) {
            channel.write(ByteBuffer.wrap(REQUEST));
            while (buffer.position() < begin.length()) {
                receive(channel, buffer);
            }
            checkBegin(buffer, begin);
            for (long received = buffer.position(); received < expected; received += buffer.position()) {
                receive(channel, buffer.clear());
            }
        }
        return document.bytes();
    }

    private static void receive(SocketChannel channel, ByteBuffer buffer) throws IOException {
        if (channel.read(buffer) < 0) {
            throw new EOFException("the server closed the connection in the middle of a document");
        }
    }

    private static void checkBegin(ByteBuffer received, String expected) throws IOException {
        byte[] bytes = new byte[expected.length()];
        received.get(0, bytes);
        String found = new String(bytes, StandardCharsets.US_ASCII);
        if (!found.equals(expected)) {
            throw new IOException("expected an array of " + expected.strip() + " values, but found " + found.strip());
        }
    }
}
