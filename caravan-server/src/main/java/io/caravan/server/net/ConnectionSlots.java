package io.caravan.server.net;

import io.netty.channel.Channel;
import java.util.concurrent.atomic.AtomicInteger;

/** A number of places, each for one open connection. Threads share it. */
final class ConnectionSlots {
    private final int max;
    private final AtomicInteger taken = new AtomicInteger();

    ConnectionSlots(int max) {
        this.max = max;
    }

    /** Takes a place until the connection closes; returns false when there is none. */
    boolean take(Channel connection) {
        if (taken.incrementAndGet() > max) {
            taken.decrementAndGet();
            return false;
        }
        connection.closeFuture().addListener(closed -> taken.decrementAndGet());
        return true;
    }

    int taken() {
        return taken.get();
    }
}
