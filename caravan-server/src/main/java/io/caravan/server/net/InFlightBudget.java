package io.caravan.server.net;

import io.netty.util.concurrent.EventExecutor;
import java.time.Duration;
import java.util.Comparator;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * The memory for requests that all connections together hold. Connections that hold much of it may take three quarters,
 * those that hold little seven eighths, and the rest is for connections that hold nothing, so that small requests are
 * read while large ones fill the memory.
 *
 * <p>When a connection finds no room, it reads no more, but for one at a time, which may finish what it has begun, and is
 * the exception until that is answered: without it, connections that each hold part of a request would wait for each
 * other. They are the exception in turn, in the order in which they began to wait. While there is no room for large
 * requests, connections that hold memory and whose clients do nothing for a while are closed, those that hold most first.
 * Threads share it.
 */
final class InFlightBudget {
    /** A connection that holds at most this, or a small part of the whole, holds little. */
    private static final int LITTLE_BYTES = 16 * 1024;

    private final long limitBytes;
    private final long limitForLittleBytes;
    private final long limitForMuchBytes;
    private final long littleBytes;
    private final Duration patience;
    private final EventExecutor timer;
    private final AtomicLong heldBytes = new AtomicLong();
    private final AtomicReference<@Nullable InFlight> excepted = new AtomicReference<>();
    private final Queue<InFlight> waiting = new ConcurrentLinkedQueue<>();
    private final Set<InFlight> connections = ConcurrentHashMap.newKeySet();
    private final AtomicBoolean watching = new AtomicBoolean();
    private final LongAdder closed = new LongAdder();

    /**
     * A budget of which nothing is held.
     *
     * @param patience how long clients may do nothing while there is no room for large requests
     * @param timer looks after them
     */
    InFlightBudget(long limitBytes, Duration patience, EventExecutor timer) {
        this.limitBytes = limitBytes;
        this.limitForLittleBytes = limitBytes - limitBytes / 8;
        this.limitForMuchBytes = limitBytes - limitBytes / 4;
        this.littleBytes = Math.min(LITTLE_BYTES, limitBytes / 64);
        this.patience = patience;
        this.timer = timer;
    }

    Duration patience() {
        return patience;
    }

    void opened(InFlight connection) {
        connections.add(connection);
    }

    void closed(InFlight connection) {
        connections.remove(connection);
        waiting.remove(connection);
    }

    long nanoTime() {
        return timer.ticker().nanoTime();
    }

    void take(long bytes) {
        if (heldBytes.addAndGet(bytes) >= limitForMuchBytes) {
            watch();
        }
    }

    /** Gives bytes back, and wakes those that wait for them. */
    void give(long bytes) {
        long held = heldBytes.addAndGet(-bytes);
        if (crosses(limitForMuchBytes, held, bytes)
                || crosses(limitForLittleBytes, held, bytes)
                || crosses(limitBytes, held, bytes)) {
            wakeAll();
        }
    }

    private static boolean crosses(long limit, long held, long given) {
        return held < limit && held + given >= limit;
    }

    /** Whether a connection that holds so many bytes may take more, as far as the others are concerned. */
    boolean hasRoom(long connectionBytes) {
        long limit = limitForMuchBytes;
        if (connectionBytes == 0) {
            limit = limitBytes;
        } else if (connectionBytes <= littleBytes) {
            limit = limitForLittleBytes;
        }
        return heldBytes.get() < limit;
    }

    /** Whether the connection may read on; if it holds {@code begun} requests only, it may be the exception. */
    boolean admits(InFlight connection, boolean begun) {
        return hasRoom(connection.heldBytes())
                || begun && (excepted.get() == connection || excepted.compareAndSet(null, connection));
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

    private void watch() {
        if (watching.compareAndSet(false, true)) {
            timer.schedule(this::look, patience.toNanos(), TimeUnit.NANOSECONDS);
        }
    }

    private void look() {
        watching.set(false);
        if (heldBytes.get() >= limitForMuchBytes) {
            closeIdle();
            passOn();
            watch();
        }
    }

    /** Ends the exception of a connection whose request may wait for as long as its client likes; others need it. */
    private void passOn() {
        InFlight exception = excepted.get();
        if (exception != null && exception.waitsLong()) {
            settled(exception);
        }
    }

    /** Closes connections that wait for their clients, until an eighth of the memory for large requests is free. */
    private void closeIdle() {
        long changedBefore = nanoTime() - patience.toNanos();
        long excess = heldBytes.get() - (limitForMuchBytes - limitForMuchBytes / 8);
        var idle = connections.stream()
                .filter(connection -> connection.idleSince(changedBefore, littleBytes))
                .sorted(Comparator.comparingLong(InFlight::heldBytes).reversed())
                .iterator();
        while (excess > 0 && idle.hasNext()) {
            InFlight greatest = idle.next();
            excess -= greatest.heldBytes();
            closed.increment();
            greatest.closeIdle();
        }
    }

    long heldBytes() {
        return heldBytes.get();
    }

    long closedConnections() {
        return closed.sum();
    }
}
