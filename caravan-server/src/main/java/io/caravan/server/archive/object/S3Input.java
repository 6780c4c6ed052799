package io.caravan.server.archive.object;

import io.caravan.server.archive.object.ObjectStoreException.Kind;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.core.ResponseInputStream;
import software.amazon.awssdk.core.async.AsyncResponseTransformer;
import software.amazon.awssdk.services.s3.model.GetObjectRequest;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;

/**
 * Streams the bytes of an object. When a connection breaks, the stream continues on another connection, provided that
 * the object has not changed. A connection also breaks when the reader pauses for longer than an idle connection may
 * stay open.
 *
 * <p>Not thread-safe. Errors are {@link ObjectStoreException}s.
 */
final class S3Input extends InputStream {
    /** Maximum number of consecutive connection failures without a byte received in between. */
    private static final int BREAKS = 3;

    private static final long UNKNOWN = -1;

    private final S3Calls calls;
    private final String key;
    /** The object's size, or {@value #UNKNOWN} when the server does not state it. */
    private final long length;

    private final @Nullable String tag;
    private ResponseInputStream<GetObjectResponse> in;
    private long position;
    private int breaks;

    S3Input(S3Calls calls, String key) {
        this.calls = calls;
        this.key = key;
        this.in = request(GetObjectRequest.builder());
        Long reportedLength = in.response().contentLength();
        this.length = reportedLength == null ? UNKNOWN : reportedLength;
        this.tag = in.response().eTag();
    }

    private ResponseInputStream<GetObjectResponse> request(GetObjectRequest.Builder request) {
        request.bucket(calls.bucket()).key(calls.inBucket(key));
        return calls.await(
                "GetObject",
                key,
                calls.client().getObject(request.build(), AsyncResponseTransformer.toBlockingInputStream()));
    }

    @Nullable
    String tag() {
        return tag;
    }

    /** Reads the entire object. Throws if the object is larger than the maximum. */
    byte[] readWhole(int maxBytes) throws IOException {
        checkSize(length, maxBytes);
        byte[] content = readNBytes((int) Math.min(maxBytes + 1L, Integer.MAX_VALUE));
        checkSize(content.length, maxBytes);
        return content;
    }

    private void checkSize(long bytes, int maxBytes) {
        if (bytes > maxBytes) {
            String why = "it has " + bytes + " bytes" + (length == UNKNOWN ? " or more" : "") + ", and the maximum is "
                    + maxBytes;
            throw calls.problems().of(Kind.CORRUPT, "GetObject", key, why, null);
        }
    }

    @Override
    public int read() {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] bytes, int offset, int length) {
        while (true) {
            try {
                return tryRead(bytes, offset, length);
            } catch (IOException | RuntimeException broken) {
                resume(broken);
            }
        }
    }

    private int tryRead(byte[] bytes, int offset, int count) throws IOException {
        if (position == length) {
            return -1;
        }
        int read = in.read(bytes, offset, count);
        if (read < 0 && length == UNKNOWN) {
            // Without a length, the object ends with the response.
            return -1;
        }
        if (read < 0) {
            throw new EOFException("the response ended after " + position + " of " + length + " bytes");
        }
        if (read > 0) {
            position += read;
            breaks = 0;
        }
        return read;
    }

    private void resume(Exception broken) {
        breaks++;
        if (breaks > BREAKS || tag == null || Thread.currentThread().isInterrupted()) {
            throw calls.problems().problem("GetObject", key, broken);
        }
        in.abort();
        in = request(GetObjectRequest.builder().range("bytes=" + position + "-").ifMatch(tag));
        String range = in.response().contentRange();
        if (position > 0 && (range == null || !range.startsWith("bytes " + position + "-"))) {
            in.abort();
            String why = "the connection broke after " + position
                    + " bytes, and the server, or a proxy before it, ignores Range or omits Content-Range";
            throw calls.problems().of(Kind.UNAVAILABLE, "GetObject", key, why, broken);
        }
    }

    @Override
    public void close() {
        if (position != length) {
            // The remaining bytes are not needed.
            in.abort();
        }
    }
}
