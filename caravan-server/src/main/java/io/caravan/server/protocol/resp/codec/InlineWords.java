package io.caravan.server.protocol.resp.codec;

import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Splits an inline command, which is a request on one line, into words at white space, as in Redis. A word may be
 * quoted: {@code "..."} supports backslash escapes, and {@code '...'} only {@code \'}.
 */
final class InlineWords {
    private final byte[] line;
    private int at;

    private InlineWords(byte[] line) {
        this.line = line;
    }

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

    /** Returns the words of the line, or null if its quotes are unbalanced. */
    static byte @Nullable [][] split(byte[] line) {
        InlineWords words = new InlineWords(line);
        List<byte[]> found = new ArrayList<>();
        while (words.skipSpace()) {
            byte[] word = words.next();
            if (word == null) {
                return null;
            }
            found.add(word);
        }
        return found.toArray(byte[][]::new);
    }

    private boolean skipSpace() {
        while (at < line.length && isSpace(line[at])) {
            at++;
        }
        return at < line.length;
    }

    private static boolean isSpace(byte b) {
        return b == ' ' || b >= '\t' && b <= '\r' || b == 0;
    }

    private byte @Nullable [] next() {
        ByteArrayOutputStream word = new ByteArrayOutputStream();
        while (at < line.length && !isSpace(line[at])) {
            byte b = line[at++];
            if (b != '"' && b != '\'') {
                word.write(b);
            } else if (!quoted(b, word)) {
                return null;
            }
        }
        return word.toByteArray();
    }

    /**
     * Reads a quoted word up to the closing quote. Returns false if there is no closing quote, or if the word does not
     * end after it.
     */
    private boolean quoted(byte quote, ByteArrayOutputStream word) {
        while (at < line.length) {
            byte b = line[at++];
            if (b == quote) {
                return at == line.length || isSpace(line[at]);
            }
            if (b == '\\' && at < line.length) {
                escaped(quote, word);
            } else {
                word.write(b);
            }
        }
        return false;
    }

    private void escaped(byte quote, ByteArrayOutputStream word) {
        byte b = line[at];
        if (quote == '\'') {
            if (b == '\'') {
                at++;
            }
            word.write(b == '\'' ? b : '\\');
            return;
        }
        at++;
        if (b == 'x' && hexDigit(at) >= 0 && hexDigit(at + 1) >= 0) {
            word.write(hexDigit(at) << 4 | hexDigit(at + 1));
            at += 2;
        } else {
            word.write(unescape(b));
        }
    }

    private int hexDigit(int index) {
        return index < line.length ? Character.digit(line[index], 16) : -1;
    }

    private static int unescape(byte b) {
        return switch (b) {
            case 'n' -> '\n';
            case 'r' -> '\r';
            case 't' -> '\t';
            case 'b' -> '\b';
            case 'a' -> 7;
            default -> b;
        };
    }
}
