package io.caravan.bench.service;

import io.caravan.bench.load.HttpAppends;
import io.caravan.bench.load.OpenLoop.Plan;
import io.caravan.bench.network.Caravan;
import io.caravan.bench.network.ReferenceServer;
import io.caravan.bench.network.RunningServer;
import io.caravan.bench.network.Subject;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.List;

/** POST of the Durable Streams protocol, beside its reference server. */
record HttpFront(Plan plan, HttpAppends protocol, List<Subject> subjects) implements Front {

    static HttpFront of(Plan plan) {
        return new HttpFront(
                plan,
                new HttpAppends("load", plan.documents(), plan.valueBytes()),
                List.of(Caravan.asDelivered(), new ReferenceServer()));
    }

    @Override
    public String name() {
        return "HTTP";
    }

    @Override
    public String request() {
        return "POST";
    }

    @Override
    public InetSocketAddress address(RunningServer server) {
        return server.http();
    }

    /** Streams must exist before the first append. */
    @Override
    public void prepare(RunningServer server) throws IOException {
        protocol.createStreams(server.http());
    }

    @Override
    public String note() {
        return "The streams are created first, one after another; there are few, because the reference server keeps"
                + " at most a hundred files open.";
    }
}
