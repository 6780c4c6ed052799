package io.caravan.bench.service;

import io.caravan.bench.load.OpenLoop;
import io.caravan.bench.load.Protocol;
import io.caravan.bench.network.RunningServer;
import io.caravan.bench.network.Subject;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.List;

/** A protocol, and the servers that speak it. */
interface Front {
    /** The name in titles and, in lower case, in file names. */
    String name();

    /** The request that is sent. */
    String request();

    OpenLoop.Plan plan();

    Protocol protocol();

    List<Subject> subjects();

    InetSocketAddress address(RunningServer server);

    /** Prepares a server for the first append. */
    void prepare(RunningServer server) throws IOException;

    /** A note for readers on this protocol's load, in a sentence. */
    String note();
}
