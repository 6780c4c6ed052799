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
 * The memory for requests that all connections together hold. Connections that hold much of it may use three quarters,
 * those that hold little seven eighths. The rest is for connections that hold nothing, so that small requests are read
 * while large ones fill the memory.
 *
 * <p>A connection that finds no space stops reading. One at a time is the exception: it may complete the request that
 * it has begun, and remains the exception until that has its reply. Without it, connections that each hold part of a
 * request would wait for each other. Connections become the exception in the order in which they began to wait.
 *
 * <p>While large requests have no space, connections that hold memory and whose clients are idle for a time are closed,
 * those that hold most first. Thread-safe.
 */
final class InFlightBudget {
    /** The maximum bytes of a connection that holds little; less if the limit is small. */
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
     * Creates an empty budget.
     *
     * @param patience maximum idle time of clients while large requests have no space
     * @param timer runs the checks for idle clients
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

    /** Releases bytes, and wakes the connections that wait for them. */
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

    /** Whether the other connections leave space for one that holds this number of bytes. */
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

    /** Registers the connection to be woken when it may be admitted. */
    void await(InFlight connection) {
        waiting.add(connection);
    }

    /**
     * Passes the exception on to the next connection in line, because the request of this one has its reply. This
     * connection may hold part of another request by now, and waits for its next turn.
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
            // A connection may have begun to wait in the meantime.
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

    /** Ends the exception of a connection whose client chooses how long its request waits; others need it. */
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
