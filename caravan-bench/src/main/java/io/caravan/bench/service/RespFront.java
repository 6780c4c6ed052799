package io.caravan.bench.service;

import io.caravan.bench.load.OpenLoop.Plan;
import io.caravan.bench.load.Protocol;
import io.caravan.bench.load.RespAppends;
import io.caravan.bench.network.Caravan;
import io.caravan.bench.network.Redis;
import io.caravan.bench.network.RunningServer;
import io.caravan.bench.network.Subject;
import java.net.InetSocketAddress;
import java.util.List;

/** RPUSH, beside Redis. */
record RespFront(Plan plan, Protocol protocol, List<Subject> subjects) implements Front {

    static RespFront of(Plan plan) {
        return new RespFront(
                plan,
                new RespAppends(plan.valueBytes()),
                List.of(Caravan.asDelivered(), Redis.forced(), Redis.everySecond()));
    }

    @Override
    public String name() {
        return "RESP";
    }

    @Override
    public String request() {
        return "RPUSH";
    }

    @Override
    public InetSocketAddress address(RunningServer server) {
        return server.resp();
    }

    @Override
    public void prepare(RunningServer server) {
        // A list is created by its first value.
    }

    @Override
    public String note() {
        return "Redis with `appendfsync everysec` answers before anything is synced: it does less.";
    }
}
