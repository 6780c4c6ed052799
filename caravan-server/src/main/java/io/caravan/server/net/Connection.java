package io.caravan.server.net;

/** What a protocol tells of one of its connections, and is told. On the connection's event loop only. */
public interface Connection {

    /** Whether nothing is under way: no request has begun to come in, none waits for its answer, nothing is followed. */
    boolean idle();

    /**
     * The number, from 1 on, of the request that has begun to come in and is not there whole; 0 when there is none. Each
     * request of a connection has another.
     */
    long unfinishedRequest();

    /** The unfinished request has taken too long: says so to the client, and closes. */
    void requestTimedOut();

    /**
     * The server stops: answers the requests that have come whole, refuses later ones with the protocol's error for it,
     * and closes soon, when all is answered.
     */
    void end();
}
