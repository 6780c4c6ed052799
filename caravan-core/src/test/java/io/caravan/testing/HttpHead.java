package io.caravan.testing;

import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The head of a request.
 *
 * @param requestLine the first line of the request
 * @param text the bytes of the request that arrived together with this line, usually the entire head
 */
record HttpHead(String requestLine, String text) {
    private static final Pattern REQUEST = Pattern.compile("\\A([A-Z]+ \\S+ HTTP/1\\.1)\r\n");
    private static final Pattern LENGTH = Pattern.compile("(?i)\r\ncontent-length: *(\\d+)");
    private static final String END = "\r\n\r\n";

    /** Returns the head of the request that begins with these bytes, or null if they belong to an earlier request. */
    static HttpHead at(byte[] chunk, int bytes) {
        String text = text(chunk, bytes);
        Matcher request = REQUEST.matcher(text);
        return request.find() ? new HttpHead(request.group(1), text) : null;
    }

    /** Reads the rest of the request that begins with these bytes, so that the client can then read the response. */
    void readRest(InputStream in, byte[] beginning, int bytes) throws IOException {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        all.write(beginning, 0, bytes);
        String text = text(beginning, bytes);
        while (!text.contains(END)) {
            all.write(next(in));
            text = text(all.toByteArray(), all.size());
        }
        Matcher length = LENGTH.matcher(text.substring(0, text.indexOf(END)));
        long body = length.find() ? Long.parseLong(length.group(1)) : 0;
        in.skipNBytes(text.indexOf(END) + END.length() + body - all.size());
    }

    private static int next(InputStream in) throws IOException {
        int next = in.read();
        if (next < 0) {
            throw new EOFException("the request ended early");
        }
        return next;
    }

    private static String text(byte[] bytes, int count) {
        return new String(bytes, 0, count, StandardCharsets.ISO_8859_1);
    }
}
