package io.caravan.server.http;

import java.net.InetSocketAddress;
import java.time.Duration;

/**
 * What the HTTP side needs to know.
 *
 * @param address where to listen; port 0 is any
 * @param maxBodyBytes greatest length of a request's body
 * @param maxBatchBytes what the messages of one body may take together in the store's log, see {@link JsonBody}
 * @param longPoll how long a long poll waits for a value
 * @param eventStream how long an event stream lasts before its client has to ask again
 * @param stall how long a client may take nothing of an answer
 */
public record HttpConfig(
        InetSocketAddress address,
        int maxBodyBytes,
        long maxBatchBytes,
        Duration longPoll,
        Duration eventStream,
        Duration stall) {
    private static final Duration LONG_POLL = Duration.ofSeconds(20);
    private static final Duration EVENT_STREAM = Duration.ofSeconds(60);
    /** What a write may hold beside its messages: the document's attributes, and frames. */
    private static final int BATCH_ROOM_BYTES = 64 * 1024;

    private static final Duration STALL = Duration.ofSeconds(30);

    /**
     * With the usual times.
     *
     * @param maxBodyBytes a body is one value, or JSON of several, so this is the store's limit for one
     * @param logBufferBytes the store's, of which a write takes one at most
     */
    public static HttpConfig of(InetSocketAddress address, int maxBodyBytes, int logBufferBytes) {
        return new HttpConfig(address, maxBodyBytes, logBufferBytes - BATCH_ROOM_BYTES, LONG_POLL, EVENT_STREAM, STALL);
    }
}
