package io.caravan.server.net;

/**
 * What the connections of all listeners take from.
 *
 * @param connections places for connections
 * @param refusals places for connections that are only told that there is no place
 * @param inFlight bytes for requests
 */
record SharedLimits(ConnectionSlots connections, ConnectionSlots refusals, InFlightBudget inFlight) {
    private static final int MAX_REFUSALS = 64;

    static SharedLimits of(NetworkLimits limits) {
        return new SharedLimits(
                new ConnectionSlots(limits.maxConnections()),
                new ConnectionSlots(MAX_REFUSALS),
                new InFlightBudget(limits.totalInFlightBytes()));
    }
}
