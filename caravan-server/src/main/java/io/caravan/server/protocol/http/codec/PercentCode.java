package io.caravan.server.protocol.http.codec;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

/** Decodes and encodes percent codes in URLs, such as {@code %41}. */
final class PercentCode {
    private static final String UNRESERVED = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";
    private static final char[] HEX = "0123456789ABCDEF".toCharArray();

    private PercentCode() {}

    /**
     * The bytes that a part of a URL stands for.
     *
     * @param what names the part, for the message
     * @throws Problem when it holds a character that is not allowed in a URL, or half a code
     */
    static byte[] bytes(String text, String what) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(text.length());
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '%') {
                bytes.write(code(text, i + 1, what));
                i += 2;
            } else if (c > ' ' && c < 0x7F) {
                bytes.write(c);
            } else {
                throw malformed(what);
            }
        }
        return bytes.toByteArray();
    }

    private static int code(String text, int at, String what) {
        int high = at + 1 < text.length() ? Character.digit(text.charAt(at), 16) : -1;
        int low = high < 0 ? -1 : Character.digit(text.charAt(at + 1), 16);
        if (low < 0) {
            throw malformed(what);
        }
        return high << 4 | low;
    }

    private static Problem malformed(String what) {
        return Problem.badRequest(
                "malformed_url", what + " is malformed: write bytes other than letters, digits and punctuation as %XX");
    }

    /** The text that a part of a URL stands for. */
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

    /** Encodes bytes as part of a URL's path; slashes stay. */
    static String encode(byte[] bytes) {
        StringBuilder text = new StringBuilder(bytes.length);
        for (byte b : bytes) {
            if (UNRESERVED.indexOf((char) (b & 0xFF)) >= 0) {
                text.append((char) b);
            } else {
                text.append('%').append(HEX[b >> 4 & 0xF]).append(HEX[b & 0xF]);
            }
        }
        return text.toString();
    }
}
