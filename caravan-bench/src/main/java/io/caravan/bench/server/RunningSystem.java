package io.caravan.bench.server;

import java.io.IOException;
import java.net.InetSocketAddress;

/** A running system of one or more servers; closing it kills its processes and deletes their files. */
public interface RunningSystem extends AutoCloseable {
    /** Returns the current address for appends over RESP. */
    InetSocketAddress address() throws IOException, InterruptedException;

    @Override
    void close() throws IOException;
}
