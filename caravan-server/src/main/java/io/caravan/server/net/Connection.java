package io.caravan.server.net;

/** The protocol state of one connection. Used only on the event loop. */
public interface Connection {
    /** Whether the connection is idle: no request is arriving or waiting for a reply, and no document is tailed. */
    boolean idle();

    /**
     * Returns the number of the unfinished request: the request that has arrived in part, or the first request of a new
     * connection. The number is unique within the connection. Returns 0 if no request is unfinished.
     */
    long unfinishedRequest();

    /** Ends the connection because the unfinished request has taken too long. */
    void requestTimedOut();

    /**
     * Ends the connection when the server stops: replies to requests that have arrived completely, rejects later
     * requests, and then closes the connection.
     */
    void end();
}
