package io.caravan.bench.service;

import io.caravan.bench.load.OpenLoop;
import io.caravan.bench.load.Protocol;
import io.caravan.bench.network.RunningServer;
import io.caravan.bench.network.Subject;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.List;

/** What a service is spoken to by: a protocol, and the servers that speak it. */
interface Front {
    /** Its name in titles, and in lower case in those of files. */
    String name();

    /** What is sent. */
    String request();

    OpenLoop.Plan plan();

    Protocol protocol();

    List<Subject> subjects();

    InetSocketAddress address(RunningServer server);

    /** Makes a server ready for the first append. */
    void prepare(RunningServer server) throws IOException, InterruptedException;

    /** What a reader has to know of this protocol's load, in a sentence. */
    String note();
}
