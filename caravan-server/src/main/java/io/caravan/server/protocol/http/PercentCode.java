package io.caravan.server.protocol.http;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;

/** Converts bytes and text to and from percent-encoding in URLs, such as {@code %41}. */
public final class PercentCode {
    private static final String UNRESERVED = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";
    private static final HexFormat HEX = HexFormat.of().withUpperCase();

    private PercentCode() {}

    /**
     * Decodes part of a URL, called {@code what} in messages, to bytes. Throws {@link Problem} if it contains a
     * character that is not allowed in a URL, or an incomplete code.
     */
    public static byte[] bytes(String text, String what) {
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

    /** Decodes part of a URL to text. Throws {@link Problem} if it is malformed, or is not UTF-8. */
    static String text(String part, String what) {
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes(part, what)))
                    .toString();
        } catch (CharacterCodingException notText) {
            throw Problem.badRequest("malformed_url", what + " is not UTF-8");
        }
    }

    /** Encodes bytes as part of the path of a URL. Does not encode slashes. */
    public static String encode(byte[] bytes) {
        return encode(bytes, UNRESERVED, '%');
    }

    /** Encodes every byte that is not in {@code kept} as {@code mark} followed by two hexadecimal digits. */
    static String encode(byte[] bytes, String kept, char mark) {
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
