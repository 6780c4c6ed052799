package io.caravan.server.protocol.http.endpoint;

import io.caravan.server.protocol.http.codec.Problem;

/** Adds up the bytes that one request's values take in the log, and enforces a limit. */
final class ValueBytes {
    private final String request;
    private final long max;
    private long bytes;

    /**
     * Creates a sum that starts at zero.
     *
     * @param request the kind of request, for the error
     */
    ValueBytes(String request, long max) {
        this.request = request;
        this.max = max;
    }

    /** Adds a value of this length. Throws {@link Problem} if the total size now exceeds the maximum. */
    void add(int length) {
        bytes += StreamWrites.MESSAGE_OVERHEAD_BYTES + length;
        if (bytes > max) {
            throw new Problem(
                    413,
                    "too_many_messages",
                    "the values of " + request + " may have " + max + " bytes in total, of which each value takes "
                            + StreamWrites.MESSAGE_OVERHEAD_BYTES + " in addition to its length; send them in several");
        }
    }
}
