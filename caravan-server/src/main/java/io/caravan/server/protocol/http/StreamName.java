package io.caravan.server.protocol.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.caravan.catalog.DocumentName;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.regex.Pattern;

/**
 * Converts between document names and URL paths: a name is the part of a path after a prefix such as {@value #PREFIX},
 * with percent-encoded bytes decoded.
 *
 * <p>Clients and proxies rewrite some paths: {@code rooms/../payroll} becomes {@code payroll}, and {@code a//b} may
 * become {@code a/b}. A name with such segments, or with a reserved first segment, therefore has an escaped path, which
 * clients and proxies do not rewrite. This path consists of {@value #ESCAPED} and the escaped name. In the escaped
 * name, every byte except letters, digits, {@code -}, and {@code _} is written as {@code ~} and two uppercase
 * hexadecimal digits.
 *
 * <p>A path with a {@code .} or {@code ..} segment is rejected. An encoded dot counts as a dot in this check, but an
 * encoded slash does not separate segments: {@code rooms%2F..%2Fpayroll} is one segment, and a valid name.
 */
public final class StreamName {
    public static final String PREFIX = "/v1/stream/";

    static final String ESCAPED = "__name/";

    private static final String WHAT = "the path of a name";
    private static final String RESERVED = "__ds";
    private static final HexFormat HEX = HexFormat.of().withUpperCase();
    private static final String UNRESERVED = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";
    private static final String UNESCAPED = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    /** Matches a dot segment, which clients remove from a path. */
    private static final Pattern DOT_SEGMENT = Pattern.compile("(?:^|/)(?:\\.|%2[eE]){1,2}(?:/|\\z)");
    /** Matches names that need an escaped path. {@code api.js} and {@code caravan.mjs} contain copies. */
    private static final Pattern REWRITTEN =
            Pattern.compile("(?:^|/)\\.{0,2}/|(?:^|/)\\.{1,2}\\z|^" + RESERVED + "\\z|^(?:" + RESERVED + "|__name)/");

    private StreamName() {}

    /** Decodes a document name from the part of a path after the prefix. Throws {@link Problem} if it is none. */
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

    /** Decodes the bytes of a name from the part of a path after the prefix. Throws {@link Problem} if it is none. */
    public static byte[] bytes(String rest) {
        byte[] decoded = percentDecode(rest, WHAT);
        // Browsers end a path at a number sign, and change a backslash to a slash.
        if (rest.indexOf('#') >= 0 || rest.indexOf('\\') >= 0) {
            throw Problem.badRequest(
                    "malformed_url",
                    WHAT
                            + " is malformed: write # as %23 and \\ as %5C, because clients and proxies interpret them differently");
        }
        boolean mayHaveDots = rest.startsWith(".") || rest.contains("/.") || rest.indexOf('%') >= 0;
        if (mayHaveDots && DOT_SEGMENT.matcher(rest).find()) {
            throw Problem.badRequest(
                    "dot_segment",
                    "clients and proxies rewrite a path that has . or .. as a segment, so it may be meant for another"
                            + " document; the path of this name is " + encode(decoded) + " behind the same prefix");
        }
        if (decoded.length == 0 || decoded[0] != '_') {
            return decoded;
        }
        // Checked after decoding, because a path may encode the same name in several ways.
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

    /** Decodes an escaped name. Throws {@link Problem} if {@link #encode} does not return this path for the name. */
    private static byte[] unescape(String text) {
        byte[] name = percentDecode(text.replace('~', '%'), WHAT);
        if (!encode(name).equals(ESCAPED + text)) {
            throw Problem.badRequest(
                    "malformed_url",
                    "what follows " + ESCAPED + " must be a name that no other path can have, in which every byte but"
                            + " letters, digits, - and _ is written as ~XX, in upper case");
        }
        return name;
    }

    public static String path(DocumentName name) {
        return PREFIX + encode(name.toBytes());
    }

    /** Encodes a name as the end of a URL path that clients send unchanged. */
    public static String encode(byte[] name) {
        return REWRITTEN.matcher(new String(name, ISO_8859_1)).find()
                ? ESCAPED + percentEncode(name, UNESCAPED, '~')
                : percentEncode(name);
    }

    /** Encodes a name for servers that do not support escaped paths. Clients may rewrite some of these paths. */
    public static String encodePlainly(byte[] name) {
        String path = percentEncode(name);
        return DOT_SEGMENT.matcher(path).find() ? path.replace("/", "%2F") : path;
    }

    /**
     * Decodes part of a URL, called {@code what} in messages, to bytes. Throws {@link Problem} if it contains a
     * character that is not allowed in a URL, or an incomplete code.
     */
    static byte[] percentDecode(String text, String what) {
        byte[] bytes = new byte[text.length()];
        int length = 0;
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (isCode(text, i)) {
                bytes[length++] = (byte) HexFormat.fromHexDigits(text, i + 1, i + 3);
                i += 2;
            } else if (c > ' ' && c < 0x7F && c != '%') {
                bytes[length++] = (byte) c;
            } else {
                throw Problem.badRequest(
                        "malformed_url",
                        what + " is malformed: write bytes other than letters, digits and punctuation as %XX");
            }
        }
        return length == bytes.length ? bytes : Arrays.copyOf(bytes, length);
    }

    private static boolean isCode(String text, int at) {
        return text.charAt(at) == '%'
                && at + 2 < text.length()
                && HexFormat.isHexDigit(text.charAt(at + 1))
                && HexFormat.isHexDigit(text.charAt(at + 2));
    }

    /** Encodes bytes as part of the path of a URL. Does not encode slashes. */
    static String percentEncode(byte[] bytes) {
        return percentEncode(bytes, UNRESERVED, '%');
    }

    /** Encodes every byte that is not in {@code kept} as {@code mark} followed by two hexadecimal digits. */
    private static String percentEncode(byte[] bytes, String kept, char mark) {
        StringBuilder text = new StringBuilder(bytes.length);
        for (byte b : bytes) {
            if (kept.indexOf((char) (b & 0xFF)) >= 0) {
                text.append((char) b);
            } else {
                text.append(mark).append(HEX.toHexDigits(b));
            }
        }
        return text.toString();
    }
}
