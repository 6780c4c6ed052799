package io.caravan.bench.torture;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;

/** The clients of a server during a session. */
interface ServerClients {

    /** Starts, and returns when all clients are connected, or everything is read. */
    void begin(InetSocketAddress server) throws IOException;

    /** See {@link Session#oneAtATime()}. */
    void oneAtATime(Duration patience) throws IOException, InterruptedException;

    /** Expects lost connections from now on. */
    void expectEnd();

    /** Returns when all connections have ended and their replies are handled. */
    void awaitEnd(Duration patience) throws IOException, InterruptedException;
}
