package io.caravan.server.protocol.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.caravan.catalog.DocumentName;
import io.caravan.fuzz.FuzzTarget;
import io.caravan.fuzz.MemoryUse;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.ReferenceCountUtil;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A fuzz target that decodes arbitrary bytes as HTTP, both all at once and in pieces. The first input byte is the piece
 * size.
 *
 * <p>The decoder must produce the same requests in both cases and nothing after malformed bytes. It must report
 * malformed bytes as a client error.
 */
public final class HttpTarget implements FuzzTarget {
    /** The prefix of the line that describes an error. No method starts with this prefix. */
    private static final String END = "(end) ";

    private static final int MAX_BODY_BYTES = 1000;
    /** The memory of a channel, its pipeline, and its buffers. */
    private static final long FIXED_BYTES = 1 << 20;
    /** The maximum memory per input byte. A head with many short headers needs the most. */
    private static final long TIMES_THE_INPUT = 512;

    @Override
    public List<byte[]> samples() {
        List<byte[]> samples = new ArrayList<>();
        for (String text : List.of(
                "\3GET /v1/stream/a%20b/c?offset=0000000000000001_0000000000000000&live=sse HTTP/1.1~Host: localhost~~",
                "\7POST /v1/stream/a HTTP/1.1~Host: localhost~Content-Type: application/json~Content-Length: 5~~[1,2]",
                "\1PUT /v1/stream/a HTTP/1.1~Host: localhost~Transfer-Encoding: chunked~Stream-TTL: 10~~3;a=b~abc~0~T: x~~",
                "\5GET http://x/v1/stream/%FF%00 HTTP/1.1~Host: localhost~~HEAD /readyz HTTP/1.0~~",
                "\2POST /v1/stream/a?trim=now HTTP/1.1~Host: localhost~Content-Length: 2~Transfer-Encoding: chunked~~0~~",
                "\4PUT /v1/stream/a HTTP/1.1~Host: localhost~Stream-Expires-At: 2026-11-21T00:00:00Z~Producer-Id: p~"
                        + "Producer-Epoch: 1~Producer-Seq: 2~Expect: 100-continue~Content-Length: 1~~x")) {
            samples.add(text.replace("~", "\r\n").getBytes(ISO_8859_1));
        }
        return samples;
    }

    @Override
    public void run(byte[] input) throws Exception {
        byte[] sent = input.length == 0 ? input : Arrays.copyOfRange(input, 1, input.length);
        int piece = input.length == 0 ? 1 : 1 + (input[0] & 0xFF);
        List<String> whole = new ArrayList<>();
        MemoryUse.within(FIXED_BYTES + TIMES_THE_INPUT * sent.length, () -> {
            whole.clear();
            whole.addAll(understood(sent, Math.max(1, sent.length)));
        });
        List<String> pieces = understood(sent, piece);
        if (!whole.equals(pieces)) {
            throw new AssertionError("whole " + whole + ", in pieces " + pieces);
        }
        for (int i = 0; i + 1 < whole.size(); i++) {
            if (whole.get(i).startsWith(END)) {
                throw new AssertionError("something behind bytes that are no request: " + whole);
            }
        }
    }

    /** Returns a line for each request, and a last line that starts with {@link #END} if a request is invalid. */
    private static List<String> understood(byte[] sent, int pieceBytes) {
        EmbeddedChannel channel = new EmbeddedChannel(new HttpConnection.Decoder(() -> false));
        for (int at = 0; at < sent.length; at += pieceBytes) {
            channel.writeInbound(Unpooled.wrappedBuffer(sent, at, Math.min(pieceBytes, sent.length - at)));
        }
        Reader reader = new Reader();
        for (Object message = channel.readInbound(); message != null; message = channel.readInbound()) {
            reader.take(message);
            ReferenceCountUtil.release(message);
        }
        channel.finishAndReleaseAll();
        return reader.lines;
    }

    /** A reader that processes decoded messages as a connection does. */
    private static final class Reader {
        private final List<String> lines = new ArrayList<>();
        private Request incoming;
        private String head = "";
        private boolean ended;

        void take(Object message) {
            if (ended) {
                return;
            }
            try {
                if (message instanceof HttpRequest request) {
                    incoming = Request.of(request);
                    head = describe(incoming);
                    incoming.expectBody(MAX_BODY_BYTES, true);
                }
                if (message instanceof HttpContent content) {
                    if (content.decoderResult().isFailure()) {
                        throw Request.malformed(content.decoderResult().cause());
                    }
                    incoming.add(content.content());
                    if (content instanceof LastHttpContent) {
                        incoming.complete();
                        lines.add(head + " " + new String(incoming.body, ISO_8859_1));
                    }
                }
            } catch (Problem rejected) {
                ended = true;
                requireClients(rejected);
                lines.add(END + rejected.code());
            }
        }

        private static String describe(Request request) {
            return String.join(
                    " ",
                    request.method().name(),
                    request.path,
                    rejection(() -> name(request.path)),
                    rejection(() -> Offset.parse(request.parameter("offset"), "offset")),
                    rejection(() -> request.producer()),
                    rejection(() -> request.number(StreamHeaders.TTL)),
                    rejection(() -> request.time(StreamHeaders.EXPIRES_AT)),
                    rejection(() -> request.contentType()));
        }

        private static void name(String path) {
            if (path.startsWith(StreamName.PREFIX)) {
                DocumentName name = StreamName.of(path.substring(StreamName.PREFIX.length()));
                DocumentName again = StreamName.of(StreamName.path(name).substring(StreamName.PREFIX.length()));
                if (!name.equals(again)) {
                    throw new AssertionError("a name that does not come back: " + path);
                }
            }
        }

        private static String rejection(Runnable reading) {
            try {
                reading.run();
                return "ok";
            } catch (Problem | IllegalArgumentException rejected) {
                requireClients(Problem.of(rejected));
                return "rejected";
            }
        }

        private static void requireClients(Problem problem) {
            int status = problem.status();
            if (status < 400 || status >= 500 && status != 501 && status != 505) {
                throw new AssertionError("a client's bytes are taken for the server's fault: " + problem);
            }
        }
    }
}
