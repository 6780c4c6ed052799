package io.caravan.server.net;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The bytes of requests that all connections together hold. When they are at the limit, connections read no more, but
 * for one at a time, which may finish what it has begun, and is the exception until that is answered: without it,
 * connections that each hold part of a request would wait for each other. They are the exception in turn, in the order
 * in which they began to wait. Threads share it.
 */
final class InFlightBudget {
    private final long limitBytes;
    private final AtomicLong heldBytes = new AtomicLong();
    private final AtomicReference<@Nullable InFlight> excepted = new AtomicReference<>();
    private final Queue<InFlight> waiting = new ConcurrentLinkedQueue<>();

    InFlightBudget(long limitBytes) {
        this.limitBytes = limitBytes;
    }

    void take(long bytes) {
        heldBytes.addAndGet(bytes);
    }

    /** Gives bytes back, and wakes those that wait for them. */
    void give(long bytes) {
        long held = heldBytes.addAndGet(-bytes);
        if (held < limitBytes && held + bytes >= limitBytes) {
            wakeAll();
        }
    }

    boolean full() {
        return heldBytes.get() >= limitBytes;
    }

    /** Whether the connection may read on; if it holds {@code begun} requests only, it may be the exception. */
    boolean admits(InFlight connection, boolean begun) {
        return !full() || begun && (excepted.get() == connection || excepted.compareAndSet(null, connection));
    }

    /** Has the connection woken when it may have become admissible. */
    void await(InFlight connection) {
        waiting.add(connection);
    }

    /**
     * What the connection was the exception for has been answered: the next in line is it. The connection itself, which
     * may hold part of another request by now, has to wait for its next turn.
     */
    void settled(InFlight connection) {
        if (excepted.get() != connection) {
            return;
        }
        InFlight next = nextInLine();
        if (!excepted.compareAndSet(connection, next)) {
            return;
        }
        if (next == null) {
            // One may have come to wait since.
            wakeAll();
        } else if (next.closed()) {
            settled(next);
        } else if (waiting.remove(next)) {
            next.wake();
        }
    }

    private @Nullable InFlight nextInLine() {
        for (InFlight candidate : waiting) {
            if (candidate.waitsBegun()) {
                return candidate;
            }
        }
        return null;
    }

    private void wakeAll() {
        for (InFlight next = waiting.poll(); next != null; next = waiting.poll()) {
            next.wake();
        }
    }

    long heldBytes() {
        return heldBytes.get();
    }
}
