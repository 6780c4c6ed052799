package io.caravan.server.cli.client;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.ProtocolException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Writes requests, and reads RESP 2 and RESP 3. Lengths, and the number of elements and bytes of a value, are
 * limited before memory is allocated, because the input may be hostile. Only the value that is being read is in memory. Not thread-safe.
 */
public final class Resp {
    /** The beginning of the message of a {@link ProtocolException} for input that is not RESP. */
    static final String NOT_RESP = "this is not RESP: ";

    private static final int MAX_LINE_BYTES = 64 * 1024;
    /** The maximum length of a byte string, larger than any value or report that a server sends. */
    public static final int MAX_BULK_BYTES = 64 * 1024 * 1024;

    private static final int MAX_DEPTH = 16;
    private static final byte[] LINE_END = {'\r', '\n'};
    private static final Pattern NUMBER = Pattern.compile("[+-]?[0-9]{1,19}");

    private final InputStream in;
    private final Function<String, RuntimeException> rejection;
    private final int maxElements;
    private final long maxBytes;
    /** The number of elements, and of bytes, that the rest of the current value may have. */
    private int elementsLeft;

    private long bytesLeft;

    /**
     * Creates a reader.
     *
     * @param rejection converts the text of an error to an exception
     * @param maxElements maximum number of elements of a value, with those of collections in it
     * @param maxBytes maximum total length of the strings of a value
     */
    public Resp(InputStream in, Function<String, RuntimeException> rejection, int maxElements, long maxBytes) {
        this.in = in;
        this.rejection = rejection;
        this.maxElements = maxElements;
        this.maxBytes = maxBytes;
    }

    /**
     * Writes a request.
     *
     * @param words the command and its arguments: strings, byte arrays, numbers, or lists of these
     */
    public static void write(OutputStream out, List<?> words) throws IOException {
        List<byte[]> all = new ArrayList<>();
        addWords(words, all);
        writeHeader(out, '*', all.size());
        for (byte[] word : all) {
            writeHeader(out, '$', word.length);
            out.write(word);
            out.write(LINE_END);
        }
    }

    private static void addWords(List<?> words, List<byte[]> to) {
        for (Object word : words) {
            if (word instanceof List<?> more) {
                addWords(more, to);
            } else {
                to.add(word instanceof byte[] bytes ? bytes : word.toString().getBytes(UTF_8));
            }
        }
    }

    private static void writeHeader(OutputStream out, char type, int count) throws IOException {
        out.write((type + Integer.toString(count)).getBytes(US_ASCII));
        out.write(LINE_END);
    }

    /**
     * Reads the next value: null, a byte array, a {@link Long}, a {@link Boolean}, a list, or a map whose keys are
     * strings. An error is returned as an exception, as is a collection that contains one.
     *
     * @throws ProtocolException if the input is not RESP, or exceeds a limit
     * @throws EOFException if the input ends before the value
     */
    @Nullable
    public Object value() throws IOException {
        elementsLeft = maxElements;
        bytesLeft = maxBytes;
        return value(0);
    }

    private @Nullable Object value(int depth) throws IOException {
        char type = (char) next();
        String line = line();
        spend(line.length());
        return switch (type) {
            case '+' -> line.getBytes(UTF_8);
            case '-' -> rejection.apply(line);
            case ':' -> number(line);
            case '#' -> line.equals("t");
            case '_' -> null;
            case '$' -> bytes(number(line));
            case '=' -> withoutFormat(bytes(number(line)));
            case '*', '>' -> list(number(line), depth);
            case '%' -> map(number(line), depth);
            default -> throw new ProtocolException(NOT_RESP + type + line);
        };
    }

    private void spend(long bytes) throws ProtocolException {
        bytesLeft -= bytes;
        if (bytesLeft < 0) {
            throw new ProtocolException("a value has more than " + maxBytes + " bytes");
        }
    }

    private byte @Nullable [] bytes(long length) throws IOException {
        if (length < 0) {
            return null;
        }
        if (length > MAX_BULK_BYTES) {
            throw new ProtocolException("a string of " + length + " bytes exceeds the maximum of " + MAX_BULK_BYTES);
        }
        spend(length);
        byte[] bytes = exactly((int) length);
        lineEnd();
        return bytes;
    }

    /** Removes the format prefix, such as {@code txt:}, from a verbatim string. */
    private static byte @Nullable [] withoutFormat(byte @Nullable [] verbatim) {
        return verbatim == null
                ? null
                : new String(verbatim, UTF_8).replaceFirst("^...:", "").getBytes(UTF_8);
    }

    private @Nullable Object list(long count, int depth) throws IOException {
        if (count < 0) {
            return null;
        }
        if (depth == MAX_DEPTH) {
            throw new ProtocolException("a value has more than " + MAX_DEPTH + " levels");
        }
        List<@Nullable Object> list = new ArrayList<>();
        RuntimeException problem = null;
        for (long i = 0; i < count; i++) {
            if (--elementsLeft < 0) {
                throw new ProtocolException("a value has more than " + maxElements + " elements");
            }
            Object element = value(depth + 1);
            if (problem == null && element instanceof RuntimeException rejected) {
                problem = rejected;
            }
            list.add(element);
        }
        return problem == null ? list : problem;
    }

    private @Nullable Object map(long count, int depth) throws IOException {
        // A map with too many entries is rejected as a list with too many elements.
        Object list = list(2 * Math.min(count, maxElements), depth);
        if (!(list instanceof List<?> elements)) {
            return list;
        }
        Map<String, @Nullable Object> map = new LinkedHashMap<>();
        for (int i = 0; i < elements.size(); i += 2) {
            Object key = elements.get(i);
            map.put(key instanceof byte[] bytes ? new String(bytes, UTF_8) : String.valueOf(key), elements.get(i + 1));
        }
        return map;
    }

    int next() throws IOException {
        int next = in.read();
        if (next < 0) {
            throw new EOFException("the server has closed it");
        }
        return next;
    }

    String line() throws IOException {
        StringBuilder line = new StringBuilder();
        for (int next = next(); next != '\r'; next = next()) {
            if (line.length() == MAX_LINE_BYTES) {
                throw new ProtocolException("a line does not end");
            }
            line.append((char) next);
        }
        if (next() != '\n') {
            throw new ProtocolException("a line does not end");
        }
        return new String(line.toString().getBytes(ISO_8859_1), UTF_8);
    }

    void lineEnd() throws IOException {
        if (next() != '\r' || next() != '\n') {
            throw new ProtocolException("a string is longer than announced");
        }
    }

    byte[] exactly(int length) throws IOException {
        byte[] bytes = in.readNBytes(length);
        if (bytes.length < length) {
            throw new EOFException("the server has closed it");
        }
        return bytes;
    }

    static long number(String line) throws IOException {
        return parse(line).orElseThrow(() -> new ProtocolException("'" + line + "' is not a 64-bit number"));
    }

    /** Returns the number with these decimal digits; empty if there is none, or it does not fit a {@code long}. */
    public static OptionalLong parse(String digits) {
        try {
            return NUMBER.matcher(digits).matches() ? OptionalLong.of(Long.parseLong(digits)) : OptionalLong.empty();
        } catch (NumberFormatException tooLarge) {
            return OptionalLong.empty();
        }
    }
}
