package io.caravan.server.net;

/** A protocol's side of one connection. The event loop's alone. */
public interface Connection {
    /** Whether nothing is under way: no request is coming in or waits for its answer, and no document is followed. */
    boolean idle();

    /**
     * A number for the request that the client owes: one that has begun to come in and is not there whole, or what a
     * new connection must begin with. Each request of a connection has another number; 0 when none is owed.
     */
    long unfinishedRequest();

    /** The unfinished request has taken too long: ends the connection. */
    void requestTimedOut();

    /**
     * The server stops: answers the requests that have come whole, refuses later ones, and closes once all are
     * answered.
     */
    void end();
}
