package io.caravan.server.protocol.http.codec;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.caravan.catalog.DocumentName;
import java.util.regex.Pattern;

/**
 * The names of streams in addresses: what follows a prefix such as {@value #PREFIX} in a URL's path, percent codes
 * decoded, byte for byte.
 *
 * <p>Clients and proxies rewrite some paths before they send them: {@code rooms/../payroll} becomes {@code payroll}, and
 * some make {@code a/b} of {@code a//b}. So a name that has such segments, or that begins with a reserved word, has an
 * address of its own, which none of them rewrites: {@value #ESCAPED}, and then the name with every byte except letters, digits,
 * {@code -} and {@code _} written as {@code ~} and two hexadecimal digits in upper case. A path with a segment that is
 * {@code .} or {@code ..} is refused. Whether a slash or a dot is itself percent-encoded makes a difference only to what
 * counts as a segment: {@code rooms%2F..%2Fpayroll} has one, and is that name.
 */
public final class StreamName {
    public static final String PREFIX = "/v1/stream/";

    /** What an escaped name begins with, in place of its first segment. */
    static final String ESCAPED = "__name/";

    private static final String WHAT = "the path of a name";
    private static final String RESERVED = "__ds";
    private static final String UNESCAPED = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    /** A segment of a path that clients remove, together with the one before it if it has two dots. */
    private static final Pattern DOT_SEGMENT = Pattern.compile("(?:^|/)(?:\\.|%2[eE]){1,2}(?:/|\\z)");
    /** Where browsers end a path, and what they make a slash of. */
    private static final Pattern UNENCODED = Pattern.compile("[#\\\\]");
    /** The console's {@code api.js} and the client's {@code caravan.mjs} have the same rule. */
    private static final Pattern REWRITTEN =
            Pattern.compile("(?:^|/)\\.{0,2}/|(?:^|/)\\.{1,2}\\z|^" + RESERVED + "\\z|^(?:" + RESERVED + "|__name)/");

    private StreamName() {}

    /** The document that a path names, by what follows the prefix. Throws {@link Problem} when it cannot be a name. */
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

    /** The bytes of a name, by its part of a path; {@link #encode} gives that. Throws {@link Problem} when it has none. */
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
        // Checked after decoding, however the name was written in the path.
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

    /** Takes no other spelling than that of {@link #encode}, so that few of the names that begin so are hidden. */
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

    /** The path of a document's stream. */
    public static String path(DocumentName name) {
        return PREFIX + encode(name.toBytes());
    }

    /** A name as the rest of a URL's path, as it is sent by every client. */
    public static String encode(byte[] name) {
        return REWRITTEN.matcher(new String(name, ISO_8859_1)).find()
                ? ESCAPED + PercentCode.encode(name, UNESCAPED, '~')
                : PercentCode.encode(name);
    }

    /** The same for servers that know no such escape: what can be done with percent codes alone. */
    public static String encodePlainly(byte[] name) {
        String path = PercentCode.encode(name);
        return DOT_SEGMENT.matcher(path).find() ? path.replace("/", "%2F") : path;
    }
}
