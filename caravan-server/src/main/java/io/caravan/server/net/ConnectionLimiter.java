package io.caravan.server.net;

import io.netty.channel.Channel;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

/** Limits the number of open connections, in total and per address. Thread-safe. */
final class ConnectionLimiter {
    private final int max;
    private final int maxPerAddress;
    private final AtomicInteger taken = new AtomicInteger();
    private final Map<ClientSubnet, Integer> takenByAddress = new ConcurrentHashMap<>();
    private final LongAdder rejected = new LongAdder();
    private final LongAdder rejectedByAddress = new LongAdder();

    ConnectionLimiter(int max, int maxPerAddress) {
        this.max = max;
        this.maxPerAddress = maxPerAddress;
    }

    /** Counts a connection until it closes. Returns false, without counting it, if a limit is reached. */
    boolean take(Channel connection) {
        ClientSubnet peer = ClientSubnet.of(connection.remoteAddress());
        return peer == null || peer.loopback() ? takeAny(connection) : takeOf(peer, connection);
    }

    private boolean takeOf(ClientSubnet peer, Channel connection) {
        if (takenByAddress.merge(peer, 1, Integer::sum) > maxPerAddress) {
            rejectedByAddress.increment();
        } else if (takeAny(connection)) {
            connection.closeFuture().addListener(closed -> release(peer));
            return true;
        }
        release(peer);
        return false;
    }

    private boolean takeAny(Channel connection) {
        if (taken.incrementAndGet() > max) {
            taken.decrementAndGet();
            rejected.increment();
            return false;
        }
        connection.closeFuture().addListener(closed -> taken.decrementAndGet());
        return true;
    }

    private void release(ClientSubnet peer) {
        takenByAddress.computeIfPresent(peer, (same, count) -> count == 1 ? null : count - 1);
    }

    long rejected() {
        return rejected.sum();
    }

    long rejectedByAddress() {
        return rejectedByAddress.sum();
    }
}
