package io.caravan.bench.torture;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;

/** The clients of a server during a session. */
interface ServerClients {

    /** Starts the clients; returns when all of them are connected, or when everything has been read. */
    void begin(InetSocketAddress server) throws IOException;

    /** Makes the clients do what {@link Session#oneAtATime()} requires. */
    void oneAtATime(Duration patience) throws IOException, InterruptedException;

    /** Stops reporting lost connections. */
    void expectEnd();

    /** Waits until all connections have ended and their replies are handled. */
    void awaitEnd(Duration patience) throws IOException, InterruptedException;
}
