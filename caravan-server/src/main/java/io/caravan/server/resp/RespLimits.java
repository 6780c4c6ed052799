package io.caravan.server.resp;

import java.time.Duration;

/**
 * What a client may ask for; a larger request ends the connection before memory is spent on it.
 *
 * @param maxWordBytes greatest length of one word of a request
 * @param maxRequestBytes greatest length of all words of a request together, with {@value #WORD_OVERHEAD_BYTES} bytes for
 *     each
 * @param stall time in which a client must take something of a long answer
 */
public record RespLimits(int maxWordBytes, long maxRequestBytes, Duration stall) {
    /** Greatest number of words in a request. */
    public static final int MAX_WORDS = 1024 * 1024;
    /** Greatest length of a request in a single line. */
    public static final int MAX_INLINE_BYTES = 64 * 1024;
    /** What a word takes in memory beside its bytes, about. */
    public static final int WORD_OVERHEAD_BYTES = 24;

    private static final Duration USUAL_STALL = Duration.ofSeconds(30);

    /** Limits of requests, with the usual patience for slow clients. */
    public RespLimits(int maxWordBytes, long maxRequestBytes) {
        this(maxWordBytes, maxRequestBytes, USUAL_STALL);
    }
}
