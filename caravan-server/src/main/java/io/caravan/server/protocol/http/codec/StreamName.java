package io.caravan.server.protocol.http.codec;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.caravan.catalog.DocumentName;
import java.util.regex.Pattern;

/**
 * Converts between document names and URL paths: a name is the rest of a path after a prefix such as {@value #PREFIX},
 * with percent codes decoded to bytes.
 *
 * <p>Clients and proxies rewrite some paths before they send them: {@code rooms/../payroll} becomes {@code payroll},
 * and some change {@code a//b} to {@code a/b}. A name with such segments, or one that starts with a reserved word,
 * therefore has an escaped path, which none of them rewrites: {@value #ESCAPED} and the escaped name. In that, every
 * byte except letters, digits, {@code -} and {@code _} is written as {@code ~} and two uppercase hexadecimal digits.
 *
 * <p>A path with a {@code .} or {@code ..} segment is refused. An encoded dot counts as a dot there, but an encoded
 * slash does not separate segments: {@code rooms%2F..%2Fpayroll} is one segment, and a valid name.
 */
public final class StreamName {
    public static final String PREFIX = "/v1/stream/";

    /** The start of an escaped path, in place of the first segment of a name. */
    static final String ESCAPED = "__name/";

    private static final String WHAT = "the path of a name";
    private static final String RESERVED = "__ds";
    private static final String UNESCAPED = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    /** A segment that clients remove from a path, together with the one before it if it has two dots. */
    private static final Pattern DOT_SEGMENT = Pattern.compile("(?:^|/)(?:\\.|%2[eE]){1,2}(?:/|\\z)");
    /** The character at which browsers end a path, and the one that they change to a slash. */
    private static final Pattern UNENCODED = Pattern.compile("[#\\\\]");
    /** The console's {@code api.js} and the client's {@code caravan.mjs} have the same rule. */
    private static final Pattern REWRITTEN =
            Pattern.compile("(?:^|/)\\.{0,2}/|(?:^|/)\\.{1,2}\\z|^" + RESERVED + "\\z|^(?:" + RESERVED + "|__name)/");

    private StreamName() {}

    /**
     * Returns the document that a path names, given the rest of the path after the prefix. Throws {@link Problem} when
     * that rest cannot be a name.
     */
    public static DocumentName of(String rest) {
        byte[] name = bytes(rest);
        if (name.length == 0) {
            throw new Problem(404, "unknown_path", "a stream's path must not be empty");
        }
        if (name.length > DocumentName.MAX_BYTES) {
            throw new Problem(
                    414,
                    "name_too_long",
                    "a stream's name may have at most " + DocumentName.MAX_BYTES + " bytes, this has " + name.length);
        }
        return DocumentName.of(name);
    }

    /**
     * Returns the bytes of a name, given the part of a path that {@link #encode} returns for it. Throws {@link Problem}
     * when that part is not the path of a name.
     */
    public static byte[] bytes(String rest) {
        byte[] decoded = PercentCode.bytes(rest, WHAT);
        if (UNENCODED.matcher(rest).find()) {
            throw Problem.badRequest(
                    "malformed_url",
                    WHAT
                            + " is malformed: write # as %23 and \\ as %5C, which clients and proxies take for something else");
        }
        if (DOT_SEGMENT.matcher(rest).find()) {
            throw Problem.badRequest(
                    "dot_segment",
                    "clients and proxies rewrite a path that has . or .. as a segment, so it may be meant for another"
                            + " document; the path of this name is " + encode(decoded) + " behind the same prefix");
        }
        // Checked after decoding, because a path may spell the name in several ways.
        String latin = new String(decoded, ISO_8859_1);
        if (latin.startsWith(ESCAPED)) {
            return unescape(latin.substring(ESCAPED.length()));
        }
        if (latin.equals(RESERVED) || latin.startsWith(RESERVED + "/")) {
            throw new Problem(
                    501,
                    "reserved",
                    "paths below " + RESERVED + " are reserved for subscriptions, which this server does not have");
        }
        return decoded;
    }

    /**
     * Decodes an escaped name. Accepts no spelling other than that of {@link #encode}, so that only a few names that
     * start with {@value #ESCAPED} are hidden.
     */
    private static byte[] unescape(String text) {
        byte[] name = PercentCode.bytes(text.replace('~', '%'), WHAT);
        if (!encode(name).equals(ESCAPED + text)) {
            throw Problem.badRequest(
                    "malformed_url",
                    "what follows " + ESCAPED + " must be a name that no other path can have, in which every byte but"
                            + " letters, digits, - and _ is written as ~XX, in upper case");
        }
        return name;
    }

    /** Returns the path of a document's stream. */
    public static String path(DocumentName name) {
        return PREFIX + encode(name.toBytes());
    }

    /** Returns a name as the rest of a URL path that every client sends unchanged. */
    public static String encode(byte[] name) {
        return REWRITTEN.matcher(new String(name, ISO_8859_1)).find()
                ? ESCAPED + PercentCode.encode(name, UNESCAPED, '~')
                : PercentCode.encode(name);
    }

    /** Returns a path for servers that do not support the escape, as safe as percent codes alone can make it. */
    public static String encodePlainly(byte[] name) {
        String path = PercentCode.encode(name);
        return DOT_SEGMENT.matcher(path).find() ? path.replace("/", "%2F") : path;
    }
}
