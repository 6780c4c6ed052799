package io.caravan.server.net;

/** A protocol's side of one connection. Used only on the event loop. */
public interface Connection {
    /** Whether nothing is under way: no request is arriving or waits for its answer, and no document is followed. */
    boolean idle();

    /**
     * The number of the request that the client owes: one that has arrived in part, or the first of a new connection.
     * Each request of a connection has another number; 0 when none is owed.
     */
    long unfinishedRequest();

    /** The unfinished request has taken too long: ends the connection. */
    void requestTimedOut();

    /** The server stops: answers the requests that have arrived completely, refuses later ones, and then closes. */
    void end();
}
