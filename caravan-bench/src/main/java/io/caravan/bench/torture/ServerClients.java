package io.caravan.bench.torture;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;

/** What speaks to a server during a session. */
interface ServerClients {

    /** Begins, and returns when all is connected, or all is told. */
    void begin(InetSocketAddress server) throws IOException;

    /** See {@link Session#oneAtATime()}. */
    void oneAtATime(Duration patience) throws IOException, InterruptedException;

    /** From now on connections may end. */
    void expectEnd();

    /** Returns when all connections have ended and been heard out. */
    void awaitEnd(Duration patience) throws IOException, InterruptedException;
}
