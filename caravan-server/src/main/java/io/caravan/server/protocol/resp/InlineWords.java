package io.caravan.server.protocol.resp;

import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Splits an inline command, which is a request on one line, into words at white space, as in Redis. A word may be
 * quoted: {@code "..."} supports backslash escapes, and {@code '...'} only {@code \'}.
 */
final class InlineWords {

    private InlineWords() {}

    /** Returns an upper bound on the number of words in the line. */
    static int most(byte[] line) {
        int most = 0;
        for (int i = 0; i < line.length; i++) {
            if (!isSpace(line[i]) && (i == 0 || isSpace(line[i - 1]))) {
                most++;
            }
        }
        return most;
    }

    /** Returns the words of the line, or null if its quotes are unbalanced, or a word continues after them. */
    static byte @Nullable [][] split(byte[] line) {
        List<byte[]> words = new ArrayList<>();
        ByteArrayOutputStream word = null;
        byte quote = 0;
        for (int at = 0; at < line.length; at++) {
            byte b = line[at];
            if (quote == 0 && isSpace(b)) {
                if (word != null) {
                    words.add(word.toByteArray());
                }
                word = null;
                continue;
            }
            word = word == null ? new ByteArrayOutputStream() : word;
            if (quote == 0 && (b == '"' || b == '\'')) {
                quote = b;
            } else if (quote != 0 && b == quote) {
                quote = 0;
                if (at + 1 < line.length && !isSpace(line[at + 1])) {
                    return null;
                }
            } else if (quote != 0 && b == '\\' && at + 1 < line.length && (quote == '"' || line[at + 1] == '\'')) {
                at += escaped(line, at + 1, word);
            } else {
                word.write(b);
            }
        }
        if (word != null) {
            words.add(word.toByteArray());
        }
        return quote == 0 ? words.toArray(byte[][]::new) : null;
    }

    private static boolean isSpace(byte b) {
        return b == ' ' || b >= '\t' && b <= '\r' || b == 0;
    }

    /** Writes the byte that the characters after a backslash stand for. Returns the number of these characters. */
    private static int escaped(byte[] line, int at, ByteArrayOutputStream word) {
        if (line[at] == 'x' && hexDigit(line, at + 1) >= 0 && hexDigit(line, at + 2) >= 0) {
            word.write(hexDigit(line, at + 1) << 4 | hexDigit(line, at + 2));
            return 3;
        }
        int control = "nrtba".indexOf(line[at]);
        word.write(control < 0 ? line[at] : "\n\r\t\b\u0007".charAt(control));
        return 1;
    }

    private static int hexDigit(byte[] line, int at) {
        return at < line.length ? Character.digit(line[at], 16) : -1;
    }
}
