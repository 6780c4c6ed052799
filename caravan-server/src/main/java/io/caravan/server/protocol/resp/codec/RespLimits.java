package io.caravan.server.protocol.resp.codec;

import org.jspecify.annotations.Nullable;

/**
 * What a client may ask for. A larger request is refused before memory is spent on it: its bytes are dropped as they
 * come, up to {@link #MAX_DROPPED_BYTES}, and one that is longer still ends the connection.
 *
 * @param maxWordBytes greatest length of one word of a request
 * @param maxRequestBytes greatest length of all words of a request together, with {@value #WORD_OVERHEAD_BYTES} bytes
 *     for each
 * @param maxPending number of requests of a connection that may wait for their answers; then no more are read
 */
public record RespLimits(int maxWordBytes, long maxRequestBytes, int maxPending) {
    /** The default of {@code maxPending}. */
    public static final int DEFAULT_MAX_PENDING = 1024;
    /** Greatest number of words in a request. */
    public static final int MAX_WORDS = 1024 * 1024;
    /** Greatest length of a request in a single line. */
    public static final int MAX_INLINE_BYTES = 64 * 1024;
    /** Greatest number of words in a request of a client that has not authenticated itself, where that is required. */
    public static final int MAX_STRANGER_WORDS = 16;
    /** Greatest length of such a request, counted as {@code maxRequestBytes} is. */
    public static final int MAX_STRANGER_BYTES = 16 * 1024;
    /** Memory of a word besides its bytes, about: the head of its array, and its place among the words. */
    public static final int WORD_OVERHEAD_BYTES = 32;
    /** Memory of a request besides its words, about, until it is answered. */
    public static final int REQUEST_OVERHEAD_BYTES = 256;
    /** Greatest length of a request that is dropped to its end, so that the connection goes on. */
    public static final int MAX_DROPPED_BYTES = 512 << 20;

    /**
     * Why a request must be refused, or null while it is within the limits.
     *
     * @param wordBytes length of its latest word
     * @param requestBytes length of all words so far, counted as {@code maxRequestBytes} is
     */
    @Nullable
    String rejection(long wordBytes, long requestBytes) {
        if (wordBytes > maxWordBytes) {
            return "ERR a value of " + wordBytes + " bytes is over the limit of " + maxWordBytes
                    + " bytes; nothing was changed. Start the server with a greater --max-value to raise it";
        }
        return requestBytes <= maxRequestBytes
                ? null
                : "ERR a request over " + maxRequestBytes + " bytes, " + WORD_OVERHEAD_BYTES
                        + " added for each word, is over the limit; nothing was changed. Send fewer values at a time, or"
                        + " start the server with a greater --max-value";
    }

    /** Limits of requests, with the usual number that may wait. */
    public RespLimits(int maxWordBytes, long maxRequestBytes) {
        this(maxWordBytes, maxRequestBytes, DEFAULT_MAX_PENDING);
    }
}
