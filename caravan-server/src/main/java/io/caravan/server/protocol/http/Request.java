package io.caravan.server.protocol.http;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.caravan.catalog.DocumentName;
import io.caravan.server.document.Producer;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.TooLongHttpHeaderException;
import io.netty.handler.codec.http.TooLongHttpLineException;
import java.time.DateTimeException;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * An HTTP request whose head has arrived. While its body is arriving, the request takes about as much memory as the
 * parts that have arrived. Unknown parameters in the URL are ignored, as the protocol requires.
 */
final class Request {
    private static final Pattern ABSOLUTE = Pattern.compile("(?is)https?://[^/?]*/?(?<rest>.*)");
    /** Largest number that a header may contain: the largest safe integer in JavaScript. */
    private static final long MAX_NUMBER = (1L << 53) - 1;

    private static final Pattern MEDIA_TYPE =
            Pattern.compile("[!#$%&'*+.^_`|~0-9A-Za-z-]+/[!#$%&'*+.^_`|~0-9A-Za-z-]+[ \t]*(;[\\x20-\\x7E\t]*)?");
    private static final int MAX_CONTENT_TYPE = 256;
    private static final String ANY_TAG = "*";
    private static final int MAX_PARAMETERS = 64;
    /** Matches numbers below 10^19, and thus below 2^64. */
    private static final Pattern DIGITS = Pattern.compile("[0-9]{1,19}");

    private static final byte[] NO_BODY = {};
    /** The last valid content type, because most requests have the same one. */
    private static volatile String lastMediaType = "";

    final HttpRequest head;
    final HttpHeaders headers;
    /** The path of the URL as sent, including percent codes. */
    final String path;
    /** The part of the URL after the question mark, as sent. */
    private final String query;

    private final Map<String, List<String>> parameters;
    /** The body, in the first {@link #bodyBytes} bytes while it arrives; empty if it is not used or was released. */
    byte[] body = NO_BODY;

    private int bodyBytes;
    private int maxBodyBytes;
    private boolean usesBody;

    /** Creates a request with this head, which is not checked. Throws {@link Problem} if the query is malformed. */
    Request(HttpRequest head, String path, String query) {
        this.head = head;
        this.headers = head.headers();
        this.path = path;
        this.query = query;
        this.parameters = query.isEmpty() ? Map.of() : parameters(query);
    }

    private static Map<String, List<String>> parameters(String query) {
        Map<String, List<String>> parameters = new HashMap<>();
        int count = 0;
        for (String pair : query.split("&", -1)) {
            if (!pair.isEmpty()) {
                Problem.require(
                        ++count <= MAX_PARAMETERS,
                        "too_many_parameters",
                        "the URL has more than " + MAX_PARAMETERS + " parameters");
                String[] parts = pair.split("=", 2);
                parameters
                        .computeIfAbsent(decoded(parts[0]), unseen -> new ArrayList<>(1))
                        .add(parts.length == 1 ? "" : decoded(parts[1]));
            }
        }
        return parameters;
    }

    private static String decoded(String part) {
        String what = "the URL's query";
        byte[] decoded = StreamName.percentDecode(part.replace("+", "%20"), what);
        String text = new String(decoded, UTF_8);
        Problem.require(Arrays.equals(text.getBytes(UTF_8), decoded), "malformed_url", what + " is not UTF-8");
        return text;
    }

    /** Creates a request without a body yet. Throws {@link Problem} if the head is not valid HTTP/1.1 or 1.0. */
    static Request of(HttpRequest head) {
        if (head.decoderResult().isFailure()) {
            throw malformed(head.decoderResult().cause());
        }
        HttpVersion version = head.protocolVersion();
        if (version.majorVersion() != 1 || version.minorVersion() > 1) {
            throw new Problem(505, "unsupported_version", "this server supports HTTP/1.1");
        }
        int hosts = head.headers().getAll(HttpHeaderNames.HOST).size();
        if (hosts > 1 || hosts == 0 && version.isKeepAliveDefault()) {
            throw Problem.badRequest("malformed_request", "a request needs one Host header, this has " + hosts);
        }
        if (head.headers().getAll(HttpHeaderNames.AUTHORIZATION).size() > 1) {
            throw Problem.badRequest("malformed_request", "a request has at most one Authorization header");
        }
        checkTransferEncoding(head.headers().getAll(HttpHeaderNames.TRANSFER_ENCODING));
        String uri = head.uri();
        if (!uri.startsWith("/")) {
            // Clients include the scheme and the server's address in requests to proxies.
            Matcher absolute = ABSOLUTE.matcher(uri);
            uri = absolute.matches() ? "/" + absolute.group("rest") : uri;
        }
        if (!uri.startsWith("/") && !uri.equals("*")) {
            throw Problem.badRequest("malformed_url", "a URL's path begins with a slash");
        }
        int end = uri.indexOf('?');
        return end < 0 ? new Request(head, uri, "") : new Request(head, uri.substring(0, end), uri.substring(end + 1));
    }

    HttpMethod method() {
        return head.method();
    }

    boolean isRead() {
        return method().equals(HttpMethod.GET) || method().equals(HttpMethod.HEAD);
    }

    /**
     * Prepares for the arrival of the body, which is kept if it is {@code used}. Throws {@link Problem} if the announced
     * body is too long, or the {@code Expect} header is not supported.
     */
    void expectBody(int maxBytes, boolean used) {
        maxBodyBytes = maxBytes;
        usesBody = used;
        String expected = header(HttpHeaderNames.EXPECT);
        if (expected != null && !HttpHeaderValues.CONTINUE.contentEqualsIgnoreCase(expected)) {
            throw new Problem(417, "unknown_expectation", "the server supports no expectation but 100-continue");
        }
        checkLength(HttpUtil.getContentLength(head, 0L));
    }

    private void checkLength(long length) {
        if (length > maxBodyBytes) {
            throw new Problem(
                    413, "body_too_large", "a body may have at most " + maxBodyBytes + " bytes, see --max-value");
        }
    }

    /** Whether the client waits for a response before it sends the body. HTTP/1.0 has no interim responses. */
    boolean expectsContinue() {
        return head.protocolVersion().isKeepAliveDefault() && headers.contains(HttpHeaderNames.EXPECT);
    }

    /** Returns the memory that the body takes now. A used body counts twice, because its array may grow. */
    long bodyMemory() {
        return usesBody ? 2L * bodyBytes : bodyBytes;
    }

    /**
     * Adds the next part of the body. Returns the memory that the part takes in addition to its received bytes. Throws
     * {@link Problem} if the body becomes too long.
     */
    int add(ByteBuf part) {
        int added = part.readableBytes();
        checkLength((long) bodyBytes + added);
        int from = bodyBytes;
        bodyBytes += added;
        if (!usesBody) {
            return 0;
        }
        if (bodyBytes > body.length) {
            // A body that arrives in one part is copied once.
            body = Arrays.copyOf(body, (int) Math.max(bodyBytes, Math.min(2L * from, maxBodyBytes)));
        }
        part.getBytes(part.readerIndex(), body, from, added);
        return added;
    }

    /** Records that the body has arrived completely. */
    void complete() {
        if (usesBody && body.length != bodyBytes) {
            body = Arrays.copyOf(body, bodyBytes);
        }
    }

    void releaseBody() {
        body = NO_BODY;
    }

    /** Returns the problem for bytes that are not a valid request. */
    static Problem malformed(Throwable cause) {
        if (cause instanceof TooLongHttpLineException) {
            return new Problem(414, "url_too_long", "the request's first line is too long");
        }
        if (cause instanceof TooLongHttpHeaderException) {
            return new Problem(431, "headers_too_large", "the request's headers are too large or too many");
        }
        return Problem.badRequest("malformed_request", "this is not an HTTP request: " + cause.getMessage());
    }

    /** Throws {@link Problem} if a transfer encoding is not chunked: a body could be stored compressed. */
    private static void checkTransferEncoding(List<String> encodings) {
        if (encodings.size() > 1
                || encodings.size() == 1
                        && !HttpHeaderValues.CHUNKED.contentEqualsIgnoreCase(
                                encodings.get(0).strip())) {
            throw new Problem(
                    501,
                    "unsupported_transfer_encoding",
                    "the only Transfer-Encoding of a body is chunked; this has " + String.join(", ", encodings));
        }
    }

    /** Throws {@link Problem} if the body is compressed, because it would be stored without its encoding. */
    void checkContentEncoding() {
        for (String encoding : headers.getAllAsString(HttpHeaderNames.CONTENT_ENCODING)) {
            for (String coding : encoding.split(",", -1)) {
                if (!coding.isBlank() && !HttpHeaderValues.IDENTITY.contentEqualsIgnoreCase(coding.strip())) {
                    throw new Problem(
                                    415,
                                    "unsupported_content_encoding",
                                    "a body must be sent as it is, without a Content-Encoding; this has "
                                            + DocumentName.printable(encoding))
                            .with("Accept-Encoding", "identity");
                }
            }
        }
    }

    String target() {
        return query.isEmpty() ? path : path + "?" + query;
    }

    /** Returns the value of a parameter, or null if it is absent. Throws {@link Problem} if it is repeated. */
    @Nullable
    String parameter(String name) {
        List<String> given = parameters.get(name);
        if (given != null && given.size() > 1) {
            throw Problem.badRequest("repeated_parameter", name + " is given more than once");
        }
        return given == null ? null : given.get(0);
    }

    /** Returns the nonnegative number in a parameter, or {@code otherwise}. Throws {@link Problem} if malformed. */
    long numberParameter(String name, long otherwise) {
        String value = parameter(name);
        long number = value == null ? otherwise : parse(value);
        Problem.require(number >= 0, "invalid_parameter", name + " must be a number below 2^63");
        return number;
    }

    boolean flagParameter(String name) {
        return "true".equals(parameter(name));
    }

    /** Returns the maximum number of elements on a page: a parameter from 1, up to {@code most}. */
    int limit(int otherwise, int most) {
        int limit = (int) Math.min(most, numberParameter("limit", otherwise));
        Problem.require(limit > 0, "invalid_parameter", "limit must be 1 or more");
        return limit;
    }

    /** Returns the number with these digits, or a negative one if the text is not a number below 2^63. */
    static long parse(String digits) {
        return DIGITS.matcher(digits).matches() ? Long.parseUnsignedLong(digits) : -1;
    }

    /** Returns the value of a header, or null if it is absent. Throws {@link Problem} if it is repeated. */
    @Nullable
    String header(CharSequence name) {
        String value = headers.get(name);
        if (value != null && headers.getAll(name).size() > 1) {
            throw invalid(name + " is given more than once");
        }
        return value;
    }

    /** Whether the client already has the content that this tag identifies, according to {@code If-None-Match}. */
    boolean hasTag(String etag) {
        return headers.getAll(HttpHeaderNames.IF_NONE_MATCH).stream()
                .flatMap(tags -> Arrays.stream(tags.split(",", -1)))
                .map(String::strip)
                .anyMatch(tag -> tag.equals(etag) || tag.equals("W/" + etag) || tag.equals(ANY_TAG));
    }

    /** Whether the request may only create a stream, and must not change an existing one. */
    boolean mustBeNew() {
        return method().equals(HttpMethod.PUT) && headers.contains(HttpHeaderNames.IF_NONE_MATCH, ANY_TAG, false);
    }

    /**
     * Throws {@link Problem} if a write has a condition that the server does not evaluate. Without this check, the
     * write would happen even if the condition were false.
     *
     * @param mayBeNew whether {@link #mustBeNew} is evaluated
     */
    void checkConditions(boolean mayBeNew) {
        boolean evaluated = mayBeNew
                        && mustBeNew()
                        && headers.getAll(HttpHeaderNames.IF_NONE_MATCH).size() == 1
                || !headers.contains(HttpHeaderNames.IF_NONE_MATCH);
        if (!isRead()
                && (!evaluated
                        || headers.contains(HttpHeaderNames.IF_MATCH)
                        || headers.contains(HttpHeaderNames.IF_UNMODIFIED_SINCE))) {
            throw new Problem(
                    412,
                    "condition_unsupported",
                    "nothing was changed: of the conditions of HTTP only If-None-Match: * is evaluated for a change, when a"
                            + " stream is created; Stream-If-Offset is a condition for appends");
        }
    }

    /** Whether a header has the value {@code true}. Any other value counts as false. */
    boolean flag(CharSequence name) {
        return "true".equalsIgnoreCase(header(name));
    }

    /** Returns the number in a header, from 0 to 2^53-1, if present. Throws {@link Problem} if it is malformed. */
    OptionalLong number(CharSequence header) {
        String value = header(header);
        if (value == null) {
            return OptionalLong.empty();
        }
        long number = parse(value);
        if (number < 0 || number > MAX_NUMBER || value.length() > 1 && value.startsWith("0")) {
            throw invalid(header + " must be a number from 0 to 2^53-1, in digits, without leading zeros");
        }
        return OptionalLong.of(number);
    }

    /** Returns the time in a header, in milliseconds since 1970, if present. Throws {@link Problem} if malformed. */
    OptionalLong time(CharSequence header) {
        String value = header(header);
        if (value == null) {
            return OptionalLong.empty();
        }
        try {
            return OptionalLong.of(OffsetDateTime.parse(value).toInstant().toEpochMilli());
        } catch (DateTimeException | ArithmeticException malformed) {
            throw invalid(header + " must be a time such as 2026-11-21T15:00:00Z (RFC 3339)");
        }
    }

    /** Returns the content type, or null if absent. Throws {@link Problem} if it is repeated or malformed. */
    @Nullable
    String contentType() {
        List<String> values = headers.getAll(HttpHeaderNames.CONTENT_TYPE);
        if (values.isEmpty()) {
            return null;
        }
        String value = values.get(0);
        boolean known = value.equals(lastMediaType);
        if (values.size() > 1
                || !known
                        && (value.length() > MAX_CONTENT_TYPE
                                || !MEDIA_TYPE.matcher(value).matches())) {
            throw invalid("Content-Type must be one media type such as text/plain, of at most " + MAX_CONTENT_TYPE
                    + " characters");
        }
        if (!known) {
            lastMediaType = value;
        }
        return value;
    }

    /**
     * Returns the producer and its sequence number for this request, or null if the request has none. Throws
     * {@link Problem} if only some of the three headers are present, or one of them is malformed.
     */
    @Nullable
    Producer producer() {
        String id = header(StreamHeaders.PRODUCER_ID);
        OptionalLong epoch = number(StreamHeaders.PRODUCER_EPOCH);
        OptionalLong sequence = number(StreamHeaders.PRODUCER_SEQ);
        if (id == null && epoch.isEmpty() && sequence.isEmpty()) {
            return null;
        }
        if (id == null || epoch.isEmpty() || sequence.isEmpty()) {
            throw invalid("Producer-Id, Producer-Epoch and Producer-Seq must be sent together, or not at all");
        }
        return new Producer(id, epoch.getAsLong(), sequence.getAsLong());
    }

    private static Problem invalid(String detail) {
        return Problem.badRequest("invalid_header", detail);
    }
}
