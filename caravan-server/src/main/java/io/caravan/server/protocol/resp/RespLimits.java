package io.caravan.server.protocol.resp;

/**
 * Limits on the requests of clients. A request over a limit is rejected, and its bytes are dropped as they arrive. A
 * request of more than {@link #MAX_DROPPED_BYTES} ends the connection.
 *
 * @param maxWordBytes maximum length of one word of a request
 * @param maxRequestBytes maximum total length of the words of a request, plus {@value #WORD_OVERHEAD_BYTES} bytes for
 *     each word
 * @param maxPending maximum number of a connection's requests without replies; at this limit, the server reads no more
 *     requests
 */
public record RespLimits(int maxWordBytes, long maxRequestBytes, int maxPending) {
    /** The default of {@code maxPending}. */
    public static final int DEFAULT_MAX_PENDING = 1024;
    /** Maximum number of words in a request. */
    public static final int MAX_WORDS = 1024 * 1024;
    /** Maximum length of an inline request, which is a request on one line. */
    public static final int MAX_INLINE_BYTES = 64 * 1024;
    /** Maximum number of words in a request from an unauthenticated client, if authentication is required. */
    public static final int MAX_STRANGER_WORDS = 16;
    /** Maximum length of a request from an unauthenticated client, counted as for {@code maxRequestBytes}. */
    public static final int MAX_STRANGER_BYTES = 16 * 1024;
    /** Approximate memory that a word takes in addition to its bytes, for the array header and the reference. */
    public static final int WORD_OVERHEAD_BYTES = 32;
    /** Approximate memory that a request and its reply take in addition to words, text, and bytes. */
    public static final int REQUEST_OVERHEAD_BYTES = 256;
    /** Maximum length of a request that is dropped without ending the connection. */
    public static final int MAX_DROPPED_BYTES = 512 << 20;

    /** Returns the reason to reject a request over one of the limits, whose latest word has this length. */
    String rejection(long wordBytes) {
        if (wordBytes > maxWordBytes) {
            return "a value of " + wordBytes + " bytes is over the limit of " + maxWordBytes
                    + " bytes; nothing was changed. Start the server with a greater --max-value to raise it";
        }
        return "a request over " + maxRequestBytes + " bytes, " + WORD_OVERHEAD_BYTES
                + " added for each word, is over the limit; nothing was changed. Send fewer values at a time, or"
                + " start the server with a greater --max-value";
    }

    /** Creates limits with {@link #DEFAULT_MAX_PENDING}. */
    public RespLimits(int maxWordBytes, long maxRequestBytes) {
        this(maxWordBytes, maxRequestBytes, DEFAULT_MAX_PENDING);
    }
}
