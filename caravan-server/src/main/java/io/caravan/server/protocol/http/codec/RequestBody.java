package io.caravan.server.protocol.http.codec;

import io.netty.buffer.ByteBuf;
import java.util.Arrays;

/** Collects a request's body up to a limit, in about as much memory as has arrived. */
public final class RequestBody {
    private static final int FIRST_BYTES = 4 * 1024;
    private static final byte[] NOTHING = {};

    private final int limit;
    private final boolean kept;
    private byte[] bytes = NOTHING;
    private int length;

    /**
     * Makes an empty body.
     *
     * @param kept false to count the bytes only
     */
    public RequestBody(int limit, boolean kept) {
        this.limit = limit;
        this.kept = kept;
    }

    /** Adds the next part; returns false when the body is over the limit. */
    public boolean add(ByteBuf part) {
        int more = part.readableBytes();
        if (more > limit - length) {
            bytes = NOTHING;
            return false;
        }
        if (kept && more > 0) {
            if (length + more > bytes.length) {
                long doubled = Math.max(FIRST_BYTES, 2L * bytes.length);
                bytes = Arrays.copyOf(bytes, (int) Math.min(limit, Math.max(length + more, doubled)));
            }
            part.getBytes(part.readerIndex(), bytes, length, more);
        }
        length += more;
        return true;
    }

    /** The whole body; the last call. */
    public byte[] take() {
        byte[] all = bytes;
        bytes = NOTHING;
        return !kept || all.length == length ? all : Arrays.copyOf(all, length);
    }
}
