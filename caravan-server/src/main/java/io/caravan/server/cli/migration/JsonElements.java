package io.caravan.server.cli.migration;

import io.caravan.server.cli.client.ClientException;
import io.caravan.server.cli.document.ValueSource;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The elements of a JSON array in the body of a response, byte for byte, without the white space around them; an empty
 * body has no elements. Does not validate the elements. Not thread-safe.
 */
final class JsonElements implements ValueSource {
    /** The maximum amount of white space between two elements, to detect a response that never ends. */
    private static final int MAX_WHITE = 64 * 1024;

    private static final int BUFFER_BYTES = 16 * 1024;
    private static final int END = -1;

    private final InputStream body;
    private final int maxBytes;
    private final byte[] buffer = new byte[BUFFER_BYTES];
    private int at;
    private int limit;
    private boolean begun;
    private boolean ended;

    /**
     * Creates a reader of a body.
     *
     * @param maxBytes the maximum length of an element
     */
    JsonElements(InputStream body, int maxBytes) {
        this.body = body;
        this.maxBytes = maxBytes;
    }

    private int read() throws IOException {
        if (at == limit) {
            at = 0;
            limit = Math.max(0, body.read(buffer));
            if (limit == 0) {
                return END;
            }
        }
        return buffer[at++];
    }

    private int readBlack() throws IOException {
        for (int white = 0; white < MAX_WHITE; white++) {
            int next = read();
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

    /**
     * Returns the next element, or null after the last one.
     *
     * @throws ClientException if the body is invalid
     * @throws IOException if the body is truncated
     */
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
        for (int next = first; ; next = read()) {
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
