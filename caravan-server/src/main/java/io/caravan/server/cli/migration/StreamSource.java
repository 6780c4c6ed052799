package io.caravan.server.cli.migration;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.caravan.server.cli.client.ClientException;
import io.caravan.server.cli.client.DocumentClient.Description;
import io.caravan.server.cli.client.HttpLink;
import io.caravan.server.cli.client.HttpLink.Response;
import io.caravan.server.cli.client.Resp;
import io.caravan.server.cli.client.Retries;
import io.caravan.server.document.ContentTypes;
import io.caravan.server.protocol.http.StreamHeaders;
import io.caravan.server.protocol.http.StreamName;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.URLEncoder;
import java.time.DateTimeException;
import java.time.OffsetDateTime;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Reads streams from a Durable Streams server that is not trusted: checks the required parts of a response, and keeps
 * at most one value in memory. Requests to a server that is busy or unreachable are retried a few times. A response
 * that was cut off is requested again, and must start with the values already received. Not thread-safe.
 *
 * @param link the address of all streams
 * @param maxValueBytes the maximum length of a value
 */
record StreamSource(HttpLink link, int maxValueBytes, Retries retries) {
    /** The maximum number of consecutive responses without a value, to detect a stream that never ends. */
    private static final int MAX_EMPTY_RESPONSES = 100;

    private static final int MAX_OFFSET_CHARS = 1024;
    private static final int MAX_QUOTED_CHARS = 200;
    private static final int MAX_BLOCK_BYTES = 256 * 1024;
    private static final String START = "-1";
    private static final String TYPE = "[ -~]{1,256}";
    private static final String CLOSED = "closed";
    private static final int OK = 200;
    private static final int UNAUTHORIZED = 401;

    private record Page(String next, boolean upToDate, boolean closed, boolean empty) {}

    /**
     * Describes a stream as a document without values: its content type, its expiry, and whether it is closed.
     */
    Description describe(byte[] name) throws IOException {
        return retries.call(() -> {
            try (Response response = request("HEAD", name, "")) {
                return new Description(-1, 0, 0, -1, attributes(response));
            }
        });
    }

    private static Map<String, Object> attributes(Response response) {
        Map<String, Object> attributes = new HashMap<>();
        attributes.put(Importer.CONTENT_TYPE, contentType(response).getBytes(UTF_8));
        String ttl = response.header(StreamHeaders.TTL);
        String expires = response.header(StreamHeaders.EXPIRES_AT);
        if (expires != null) {
            attributes.put(Importer.EXPIRES, millis(expires));
        } else if (ttl != null) {
            long seconds = Resp.parse(ttl).orElse(-1);
            require(seconds >= 0, StreamHeaders.TTL, ttl);
            attributes.put("ttl", seconds);
        }
        if (flag(response, StreamHeaders.CLOSED)) {
            attributes.put(CLOSED, new byte[0]);
        }
        return attributes;
    }

    /** Whether no values will follow those of the stream. */
    static boolean isClosed(Description stream) {
        return stream.attributes().containsKey(CLOSED);
    }

    private static String contentType(Response response) {
        String type = response.header("Content-Type");
        if (type == null) {
            throw missing("Content-Type");
        }
        require(type.matches(TYPE), "Content-Type", type);
        return type;
    }

    private static long millis(String time) {
        try {
            return Math.max(0, OffsetDateTime.parse(time).toInstant().toEpochMilli());
        } catch (DateTimeException | ArithmeticException malformed) {
            throw invalid(StreamHeaders.EXPIRES_AT, time);
        }
    }

    private static boolean flag(Response response, CharSequence header) {
        return "true".equalsIgnoreCase(response.header(header));
    }

    private static void require(boolean valid, CharSequence header, String value) {
        if (!valid) {
            throw invalid(header, value);
        }
    }

    private static ClientException invalid(CharSequence header, String value) {
        return ClientException.otherState("has a response with an invalid header: " + header + ": " + brief(value));
    }

    private static ClientException missing(CharSequence header) {
        return ClientException.otherState("has a response without the header " + header
                + "; is this the address of the streams of a Durable Streams server?");
    }

    private static String brief(String text) {
        return text.length() > MAX_QUOTED_CHARS ? text.substring(0, MAX_QUOTED_CHARS) + "..." : text;
    }

    /**
     * Reads a stream from its first value to its end.
     *
     * @param stream the stream's description
     * @return whether the stream is closed
     * @throws ClientException if responses are invalid, or the stream is trimmed or deleted in the meantime; earlier
     *     values were passed on
     */
    boolean read(byte[] name, Description stream, Consumer<byte[]> sink) throws IOException {
        String offset = START;
        int empty = 0;
        while (true) {
            Page page = page(name, stream, offset, sink);
            // A cached response might not show yet that the stream is closed.
            if (page.closed() || (page.upToDate() && !isClosed(stream))) {
                return page.closed();
            }
            empty = page.empty() ? empty + 1 : 0;
            if (page.next().equals(offset) || empty > MAX_EMPTY_RESPONSES) {
                throw ClientException.otherState("does not end: the server reports more values after offset "
                        + brief(offset) + ", and sends none");
            }
            offset = page.next();
        }
    }

    private Page page(byte[] name, Description stream, String offset, Consumer<byte[]> sink) throws IOException {
        // The values received from the response, to recognize them after a retry.
        DocumentChecksum received = new DocumentChecksum(true);
        String query = "?offset=" + URLEncoder.encode(offset, UTF_8);
        return retries.call(
                () -> {
                    try (Response response = request("GET", name, query)) {
                        return take(response, stream, received, sink);
                    }
                },
                received::count);
    }

    private Page take(Response response, Description stream, DocumentChecksum received, Consumer<byte[]> sink)
            throws IOException {
        String next = response.header(StreamHeaders.NEXT_OFFSET);
        if (next == null) {
            throw missing(StreamHeaders.NEXT_OFFSET);
        }
        require(next.length() <= MAX_OFFSET_CHARS && !next.equals(START), StreamHeaders.NEXT_OFFSET, next);
        String type = Importer.contentType(stream);
        if (!ContentTypes.same(contentType(response), type)) {
            throw ClientException.otherState(
                    "has changed its content type: " + brief(contentType(response)) + " instead of " + type);
        }
        Values pieces = ContentTypes.isJson(type)
                ? new JsonElements(response.body(), maxValueBytes)
                : () -> block(response.body(), Math.min(maxValueBytes, MAX_BLOCK_BYTES));
        skip(pieces, received);
        for (byte[] value = pieces.next(); value != null; value = pieces.next()) {
            sink.accept(value);
            received.value(value);
        }
        return new Page(
                next,
                flag(response, StreamHeaders.UP_TO_DATE),
                flag(response, StreamHeaders.CLOSED),
                received.count() == 0);
    }

    /** The values in a response, in order. */
    private interface Values {
        /** Returns the next value, or null after the last one. */
        byte @Nullable [] next() throws IOException;
    }

    /** Returns a block of this length, or the shorter rest of the input; null at the end of the input. */
    private static byte @Nullable [] block(InputStream in, int bytes) throws IOException {
        byte[] block = in.readNBytes(bytes);
        return block.length == 0 ? null : block;
    }

    /** Skips the values that were received before a response was cut off, and checks that they are unchanged. */
    private static void skip(Values pieces, DocumentChecksum received) throws IOException {
        DocumentChecksum again = new DocumentChecksum(true);
        while (again.count() < received.count()) {
            byte[] value = pieces.next();
            if (value == null) {
                break;
            }
            again.value(value);
        }
        if (!again.isSame(received)) {
            throw ClientException.otherState("was changed while it was read; run the command again");
        }
    }

    private Response request(String method, byte[] name, String query) throws IOException {
        String path = "/" + StreamName.encodePlainly(name);
        Response response = link.send(method, path + query, true);
        if (response.status() == OK) {
            return response;
        }
        try (response) {
            IOException busy = Retries.busy(link, response);
            if (busy != null) {
                throw busy;
            }
            throw rejection(response);
        }
    }

    private ClientException rejection(Response response) {
        if (response.status() == UNAUTHORIZED) {
            return ClientException.failed("the server at " + link.base()
                    + " requires another token: give it in the environment variable CARAVAN_FROM_PASSWORD or with"
                    + " --from-password-file FILE");
        }
        String location = response.header("Location");
        return ClientException.otherState(
                switch (response.status()) {
                    case 403 -> "may not be read with this token (403)";
                    case 404 -> "does not exist there (404)";
                    case 410 -> "is deleted there, or was trimmed while it was read (410)";
                    default ->
                        location == null
                                ? "has a response with the status " + response.status()
                                : "is at another address (" + response.status() + "), " + brief(location)
                                        + ": the command does not follow redirects, because the token is for this"
                                        + " server only";
                });
    }

    /**
     * The elements of a JSON array in the body of a response, byte for byte, without the white space around them; an
     * empty body has no elements. Does not validate the elements. Not thread-safe.
     */
    private static final class JsonElements implements Values {
        /** The maximum amount of white space between two elements, to detect a response that never ends. */
        private static final int MAX_WHITE = 64 * 1024;

        private static final int BUFFER_BYTES = 16 * 1024;
        private static final int END = -1;

        private final InputStream body;
        private final int maxBytes;
        private boolean begun;
        private boolean ended;

        JsonElements(InputStream body, int maxBytes) {
            this.body = new BufferedInputStream(body, BUFFER_BYTES);
            this.maxBytes = maxBytes;
        }

        private int readBlack() throws IOException {
            for (int white = 0; white < MAX_WHITE; white++) {
                int next = body.read();
                if (!isWhite(next)) {
                    return next;
                }
            }
            throw notArray("it has too much white space");
        }

        private static boolean isWhite(int next) {
            return next == ' ' || next == '\n' || next == '\r' || next == '\t';
        }

        private static ClientException notArray(String why) {
            return ClientException.otherState("has a response that is not a JSON array: " + why);
        }

        @Override
        public byte @Nullable [] next() throws IOException {
            if (ended) {
                return null;
            }
            int first = readBlack();
            if (!begun) {
                begun = true;
                if (first != END && first != '[') {
                    throw notArray("it does not start with a bracket");
                }
                first = first == END ? END : readBlack();
                if (first == END || first == ']') {
                    return end(first);
                }
            }
            return element(first);
        }

        private byte @Nullable [] end(int last) throws IOException {
            ended = true;
            if (last == ']' && readBlack() != END) {
                throw notArray("text follows it");
            }
            return null;
        }

        /** Reads an element and the separator after it. */
        private byte[] element(int first) throws IOException {
            ByteArrayOutputStream element = new ByteArrayOutputStream();
            int depth = 0;
            boolean inString = false;
            boolean escaped = false;
            for (int next = first; ; next = body.read()) {
                if (next == END) {
                    throw notArray("it ends before its last bracket");
                }
                if (inString) {
                    inString = escaped || next != '"';
                    escaped = !escaped && next == '\\';
                } else if (depth == 0 && (next == ',' || next == ']')) {
                    if (next == ']') {
                        end(next);
                    }
                    return stripped(element.toByteArray());
                } else {
                    inString = next == '"';
                    depth += next == '[' || next == '{' ? 1 : next == ']' || next == '}' ? -1 : 0;
                }
                if (element.size() == maxBytes) {
                    throw ClientException.otherState("has a message of more than " + maxBytes
                            + " bytes, which the server does not accept (--max-value)");
                }
                element.write(next);
            }
        }

        private static byte[] stripped(byte[] element) {
            int length = element.length;
            while (length > 0 && isWhite(element[length - 1])) {
                length--;
            }
            if (length == 0) {
                throw notArray("an element is missing");
            }
            return Arrays.copyOf(element, length);
        }
    }
}
