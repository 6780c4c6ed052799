package io.caravan.bench.service;

import io.caravan.bench.load.HttpAppends;
import io.caravan.bench.load.OpenLoop.Plan;
import io.caravan.bench.load.Protocol;
import io.caravan.bench.load.RespAppends;
import io.caravan.bench.server.Caravan;
import io.caravan.bench.server.MeasuredServer;
import io.caravan.bench.server.Redis;
import io.caravan.bench.server.ReferenceServer;
import io.caravan.bench.server.RunningServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.List;

/**
 * A protocol, and the servers that support it.
 *
 * @param name name of the protocol in titles and, in lower case, in file names
 * @param request the request that is sent
 * @param note a note for readers about this protocol's load, in one sentence
 */
record Front(String name, String request, Plan plan, Protocol protocol, List<MeasuredServer> subjects, String note) {
    /** Returns the RESP protocol with {@code RPUSH}, for Caravan and Redis. */
    static Front resp(Plan plan) {
        return new Front(
                "RESP",
                "RPUSH",
                plan,
                new RespAppends(plan.valueBytes()),
                List.of(Caravan.asDelivered(), Redis.fsynced(), Redis.everySecond()),
                "Redis with `appendfsync everysec` replies before anything is synced: it does less.");
    }

    /** Returns the Durable Streams protocol with {@code POST}, for Caravan and the protocol's reference server. */
    static Front http(Plan plan) {
        return new Front(
                "HTTP",
                "POST",
                plan,
                new HttpAppends("load", plan.documents(), plan.valueBytes()),
                List.of(Caravan.asDelivered(), new ReferenceServer()),
                "The streams are created first, one after another; there are few, because the reference server keeps"
                        + " at most a hundred files open.");
    }

    InetSocketAddress address(RunningServer server) {
        return protocol instanceof HttpAppends ? server.http() : server.address();
    }

    /**
     * Prepares a server for the first append. The first value of a list creates the list, but streams must be created
     * explicitly.
     */
    void prepare(RunningServer server) throws IOException {
        if (protocol instanceof HttpAppends appends) {
            appends.createStreams(server.http());
        }
    }
}
