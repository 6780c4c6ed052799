package io.caravan.bench.network;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * Encoded requests of the Durable Streams protocol. Streams contain text, so that events carry the values unchanged.
 */
public final class Requests {
    /** The response header with the offset of the next read. */
    static final String NEXT_OFFSET = "Stream-Next-Offset";

    private static final String ROOT = "/v1/stream/";
    private static final String CONTENT_TYPE = "Content-Type: text/plain\r\n";

    private Requests() {}

    static ByteBuf create(String stream) {
        return bytes(line("PUT", stream) + CONTENT_TYPE + "Content-Length: 0\r\n\r\n");
    }

    public static ByteBuf append(String stream, byte[] value) {
        String head = line("POST", stream) + CONTENT_TYPE + "Content-Length: " + value.length + "\r\n\r\n";
        return Unpooled.wrappedBuffer(bytes(head), Unpooled.wrappedBuffer(value));
    }

    static ByteBuf read(String stream, String offset) {
        return bytes(line("GET", stream + "?offset=" + offset) + "\r\n");
    }

    /**
     * A read that waits for values.
     *
     * @param mode {@code long-poll} or {@code sse}
     */
    static ByteBuf tail(String stream, String offset, String mode) {
        return bytes(line("GET", stream + "?offset=" + offset + "&live=" + mode) + "\r\n");
    }

    private static String line(String method, String target) {
        return method + " " + ROOT + target + " HTTP/1.1\r\nHost: " + Ports.HOST + "\r\n";
    }

    private static ByteBuf bytes(String text) {
        return Unpooled.wrappedBuffer(text.getBytes(StandardCharsets.US_ASCII));
    }

    /** Creates the streams of a server, one after another, over a separate connection. */
    public static void createAll(InetSocketAddress http, List<String> streams)
            throws IOException, InterruptedException {
        try (HttpClient client = new HttpClient(http)) {
            createAll(client.connect(), streams);
        }
    }

    /**
     * Creates the streams, one after another.
     *
     * @return the start offset of each stream
     */
    static List<String> createAll(HttpLink link, List<String> streams) throws IOException, InterruptedException {
        List<String> offsets = new ArrayList<>();
        for (String stream : streams) {
            Answer answer = new Answer();
            link.send(create(stream), answer);
            String offset = answer.await().get(NEXT_OFFSET);
            if (offset == null) {
                throw new IOException("the server created a stream, but sent no " + NEXT_OFFSET);
            }
            offsets.add(offset);
        }
        return offsets;
    }
}
