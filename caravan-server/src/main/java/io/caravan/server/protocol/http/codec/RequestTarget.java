package io.caravan.server.protocol.http.codec;

import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.TooLongHttpHeaderException;
import io.netty.handler.codec.http.TooLongHttpLineException;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The path and query of a request.
 *
 * @param path the URL's path, percent codes included
 */
public record RequestTarget(String path, Query query) {
    private static final Pattern AUTHORITY = Pattern.compile("https?://[^/?]*", Pattern.CASE_INSENSITIVE);

    /**
     * Parses a head that Netty has read.
     *
     * @throws Problem when it is not valid HTTP/1.1 or 1.0
     */
    public static RequestTarget of(HttpRequest head) {
        if (head.decoderResult().isFailure()) {
            throw malformed(head.decoderResult().cause());
        }
        HttpVersion version = head.protocolVersion();
        if (version.majorVersion() != 1 || version.minorVersion() > 1) {
            throw new Problem(
                    HttpResponseStatus.HTTP_VERSION_NOT_SUPPORTED,
                    "unsupported_version",
                    "this server speaks HTTP/1.1");
        }
        int hosts = head.headers().getAll(HttpHeaderNames.HOST).size();
        if (hosts > 1 || hosts == 0 && version.isKeepAliveDefault()) {
            throw Problem.badRequest("malformed_request", "a request needs one Host header, this has " + hosts);
        }
        checkTransferEncoding(head);
        return split(withoutAuthority(head.uri()));
    }

    /** A compressed body would be stored compressed, with nothing to say so. */
    private static void checkTransferEncoding(HttpRequest head) {
        List<String> encodings = head.headers().getAll(HttpHeaderNames.TRANSFER_ENCODING);
        if (!encodings.isEmpty()
                && !(encodings.size() == 1
                        && HttpHeaderValues.CHUNKED.contentEqualsIgnoreCase(
                                encodings.get(0).strip()))) {
            throw new Problem(
                    HttpResponseStatus.NOT_IMPLEMENTED,
                    "unsupported_transfer_encoding",
                    "the only Transfer-Encoding of a body is chunked; this has " + String.join(", ", encodings));
        }
    }

    /** The problem with bytes that are not a request. */
    public static Problem malformed(Throwable cause) {
        if (cause instanceof TooLongHttpLineException) {
            return new Problem(
                    HttpResponseStatus.REQUEST_URI_TOO_LONG, "url_too_long", "the request's first line is too long");
        }
        if (cause instanceof TooLongHttpHeaderException) {
            return new Problem(
                    HttpResponseStatus.REQUEST_HEADER_FIELDS_TOO_LARGE,
                    "headers_too_large",
                    "the request's headers are too large");
        }
        return new Problem(
                HttpResponseStatus.BAD_REQUEST,
                "malformed_request",
                "this is not an HTTP request: " + cause.getMessage());
    }

    /** The form of a URL that is sent to proxies names the server too. */
    private static String withoutAuthority(String uri) {
        Matcher authority = AUTHORITY.matcher(uri);
        if (!authority.lookingAt()) {
            return uri;
        }
        String rest = uri.substring(authority.end());
        return rest.startsWith("/") ? rest : "/" + rest;
    }

    private static RequestTarget split(String uri) {
        if (!uri.startsWith("/") && !uri.equals("*")) {
            throw Problem.badRequest("malformed_url", "a URL's path begins with a slash");
        }
        int mark = uri.indexOf('?');
        return mark < 0
                ? new RequestTarget(uri, new Query(""))
                : new RequestTarget(uri.substring(0, mark), new Query(uri.substring(mark + 1)));
    }
}
