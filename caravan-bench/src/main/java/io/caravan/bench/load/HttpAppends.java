package io.caravan.bench.load;

import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseDecoder;
import io.netty.handler.codec.http.HttpStatusClass;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.IntStream;

/** Appends over the Durable Streams protocol, with all requests encoded in advance. */
public final class HttpAppends implements Protocol {
    /** The letter O of POST, which is the only capital O in a request. */
    private static final byte MARK = 'O';

    private static final byte[] REPLY = "HTTP/1.1 204 No Content\r\n\r\n".getBytes(StandardCharsets.US_ASCII);
    private static final String ROOT = "/v1/stream/";
    /** The last byte of each value, which occurs nowhere else in a response. */
    static final byte LAST_BYTE = '~';

    private static final String CONTENT_TYPE = "Content-Type";
    private static final String TEXT = "text/plain";
    private static final int CREATED = 201;

    private final List<String> streams;
    private final byte[][] requests;

    /**
     * Creates appends of values of one length.
     *
     * @param name prefix of the streams' names
     */
    public HttpAppends(String name, int streams, int valueBytes) {
        this.streams =
                IntStream.range(0, streams).mapToObj(i -> ROOT + name + "-" + i).toList();
        String rest = " HTTP/1.1\r\nHost: localhost\r\n" + CONTENT_TYPE + ": " + TEXT + "\r\nContent-Length: "
                + valueBytes + "\r\n\r\n" + "x".repeat(valueBytes - 1) + (char) LAST_BYTE;
        requests = this.streams.stream()
                .map(stream -> ("POST " + stream + rest).getBytes(StandardCharsets.US_ASCII))
                .toArray(byte[][]::new);
    }

    /** Returns the paths of the streams. */
    List<String> streams() {
        return streams;
    }

    /** Creates the streams one after another. They must exist before the first append. */
    public void createStreams(InetSocketAddress server) throws IOException {
        for (String stream : streams) {
            URI uri = URI.create("http://" + server.getHostString() + ":" + server.getPort() + stream);
            HttpURLConnection connection = (HttpURLConnection) uri.toURL().openConnection();
            connection.setRequestMethod("PUT");
            connection.setRequestProperty(CONTENT_TYPE, TEXT);
            int status = connection.getResponseCode();
            if (status != CREATED) {
                throw new IOException("the server responded with status " + status + " to the creation of " + uri);
            }
            connection.getInputStream().close();
        }
    }

    @Override
    public byte[] append(int document) {
        return requests[document];
    }

    @Override
    public ReplyReader replies() {
        return new Responses();
    }

    @Override
    public byte mark() {
        return MARK;
    }

    @Override
    public byte[] reply() {
        return REPLY;
    }

    /**
     * Decodes the responses on one connection with Netty's decoder but without Netty's threads, so that the load's
     * thread never waits for another thread.
     */
    static final class Responses implements ReplyReader {
        private final EmbeddedChannel decoder = new EmbeddedChannel(new HttpResponseDecoder());
        private boolean error;

        @Override
        public void read(ByteBuffer bytes, Replies replies) throws IOException {
            decoder.writeInbound(Unpooled.copiedBuffer(bytes));
            for (HttpObject part = decoder.readInbound(); part != null; part = decoder.readInbound()) {
                try {
                    take(part, replies);
                } finally {
                    ReferenceCountUtil.release(part);
                }
            }
        }

        private void take(HttpObject part, Replies replies) throws IOException {
            if (part.decoderResult().isFailure()) {
                throw new IOException(
                        "received something other than an HTTP response",
                        part.decoderResult().cause());
            }
            if (part instanceof HttpResponse head) {
                error = head.status().codeClass() != HttpStatusClass.SUCCESS;
            }
            if (part instanceof LastHttpContent) {
                replies.replied(error);
            }
        }
    }
}
