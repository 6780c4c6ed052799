package io.caravan.bench.torture;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;

/** The clients of a server during a session. */
interface ServerClients {

    /** Starts the clients; returns when all of them are connected, or when everything has been read. */
    void begin(InetSocketAddress server) throws IOException;

    /** Does the same for the clients as {@link Session#oneAtATime()}. */
    void oneAtATime(Duration patience) throws IOException, InterruptedException;

    /** Treats lost connections as expected from now on. */
    void expectEnd();

    /** Returns when all connections have ended and their replies are handled. */
    void awaitEnd(Duration patience) throws IOException, InterruptedException;
}
