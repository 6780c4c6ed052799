package io.caravan.server.net;

import io.netty.util.concurrent.EventExecutor;
import java.time.Duration;
import java.util.Comparator;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/**
 * The bytes of replies that all connections together hold. Once they reach the limit, the budget is spent: reads wait
 * until an eighth of it is free. Until then, connections whose clients receive nothing for {@link #PATIENCE} are
 * closed, those that hold most first. Thread-safe.
 */
final class AnswerBudget {
    static final Duration PATIENCE = Duration.ofSeconds(5);
    /** The divisor of the limit that yields the additional budget for what clients wait for. */
    private static final int WAITS_PART = 4;

    private final long limitBytes;
    private final long freeAgainBytes;
    private final EventExecutor timer;
    private final AtomicLong heldBytes = new AtomicLong();
    private final AtomicBoolean spent = new AtomicBoolean();
    private final AtomicBoolean watching = new AtomicBoolean();
    private final Set<AnswerMemory> connections = ConcurrentHashMap.newKeySet();
    private final Set<AnswerMemory> waiting = ConcurrentHashMap.newKeySet();
    private final LongAdder closed = new LongAdder();
    private final WaitBudget waits;

    /** Creates an empty budget; {@code timer} runs the checks for stalled clients. */
    AnswerBudget(long limitBytes, EventExecutor timer) {
        this.limitBytes = limitBytes;
        this.freeAgainBytes = limitBytes - limitBytes / 8;
        this.timer = timer;
        this.waits = new WaitBudget(limitBytes / WAITS_PART);
    }

    WaitBudget waits() {
        return waits;
    }

    void opened(AnswerMemory connection) {
        connections.add(connection);
    }

    void closed(AnswerMemory connection) {
        connections.remove(connection);
        waiting.remove(connection);
    }

    long nanoTime() {
        return timer.ticker().nanoTime();
    }

    /** Adds bytes to the budget's use; a negative number releases them. */
    void add(long bytes) {
        long held = heldBytes.addAndGet(bytes);
        if (bytes > 0 && held >= limitBytes && spent.compareAndSet(false, true)) {
            watch();
            // All bytes may have been released before the budget was known to be spent.
            freeAgain(heldBytes.get());
        } else if (bytes < 0) {
            freeAgain(held);
        }
    }

    private void freeAgain(long held) {
        if (held <= freeAgainBytes && spent.compareAndSet(true, false)) {
            waiting.forEach(this::wake);
        }
    }

    boolean spent() {
        return spent.get();
    }

    /** Registers the connection to be woken once the budget has space, possibly at once. Callable on any thread. */
    void await(AnswerMemory connection) {
        waiting.add(connection);
        if (!spent()) {
            wake(connection);
        }
    }

    private void wake(AnswerMemory connection) {
        if (waiting.remove(connection)) {
            connection.wake();
        }
    }

    private void watch() {
        if (watching.compareAndSet(false, true)) {
            timer.schedule(this::look, PATIENCE.toNanos(), TimeUnit.NANOSECONDS);
        }
    }

    private void look() {
        watching.set(false);
        if (spent()) {
            closeStalled();
            watch();
        }
    }

    private void closeStalled() {
        long changedBefore = nanoTime() - PATIENCE.toNanos();
        long excess = heldBytes.get() - freeAgainBytes;
        var stalled = connections.stream()
                .filter(connection -> connection.stalledSince(changedBefore))
                .sorted(Comparator.comparingLong(AnswerMemory::heldBytes).reversed())
                .iterator();
        while (excess > 0 && stalled.hasNext()) {
            AnswerMemory greatest = stalled.next();
            excess -= greatest.heldBytes();
            closed.increment();
            greatest.closeStalled();
        }
    }

    long heldBytes() {
        return heldBytes.get();
    }

    long closedConnections() {
        return closed.sum();
    }
}
