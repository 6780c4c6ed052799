package io.caravan.server.net;

import io.netty.channel.Channel;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

/** Limits the number of open connections, in total and for each address. Thread-safe. */
final class ConnectionLimiter {
    private final int max;
    private final int maxPerAddress;
    private final AtomicInteger taken = new AtomicInteger();
    private final Map<ClientSubnet, Integer> takenByAddress = new ConcurrentHashMap<>();
    private final LongAdder refused = new LongAdder();
    private final LongAdder refusedByAddress = new LongAdder();

    ConnectionLimiter(int max, int maxPerAddress) {
        this.max = max;
        this.maxPerAddress = maxPerAddress;
    }

    /** Counts a connection until it closes. Returns false if a limit is reached. */
    boolean take(Channel connection) {
        ClientSubnet peer = ClientSubnet.of(connection.remoteAddress());
        return peer == null || peer.loopback() ? takeAny(connection) : takeOf(peer, connection);
    }

    private boolean takeOf(ClientSubnet peer, Channel connection) {
        if (takenByAddress.merge(peer, 1, Integer::sum) > maxPerAddress) {
            refusedByAddress.increment();
        } else if (takeAny(connection)) {
            connection.closeFuture().addListener(closed -> giveBack(peer));
            return true;
        }
        giveBack(peer);
        return false;
    }

    private boolean takeAny(Channel connection) {
        if (taken.incrementAndGet() > max) {
            taken.decrementAndGet();
            refused.increment();
            return false;
        }
        connection.closeFuture().addListener(closed -> taken.decrementAndGet());
        return true;
    }

    private void giveBack(ClientSubnet peer) {
        takenByAddress.computeIfPresent(peer, (same, count) -> count == 1 ? null : count - 1);
    }

    long refused() {
        return refused.sum();
    }

    long refusedByAddress() {
        return refusedByAddress.sum();
    }
}
