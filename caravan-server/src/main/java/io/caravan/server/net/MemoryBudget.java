package io.caravan.server.net;

import io.netty.util.concurrent.EventExecutor;
import java.time.Duration;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * Limits the total memory of all connections. Thread-safe.
 *
 * <p><b>Requests.</b> Connections that hold much memory may read until three quarters of the limit for requests are
 * used; connections that hold little memory, until seven eighths are used. The last eighth is reserved for connections
 * that hold nothing, so that the server can read small requests while large ones fill the memory. A connection for
 * which there is no space stops reading.
 *
 * <p>One connection at a time is the exception to these limits: it may read the rest of the request that it has begun.
 * Otherwise, connections that each hold part of a request would wait for each other. A connection remains the exception
 * until its request has a reply, or until the request has arrived, is small, and has waited for some time. Connections
 * become the exception in the order in which they began to wait.
 *
 * <p><b>Replies.</b> When the replies reach their limit, the budget is spent, and commands that read data wait until an
 * eighth of the limit is free.
 *
 * <p><b>Waits</b> are the registrations of waiting clients: subscriptions to channels and patterns, places in the
 * queues for values, and documents that are tailed. A connection may use a quarter of the limit. An address other than
 * a loopback address may use half of the limit.
 *
 * <p>While there is no space for large requests or replies, the budget closes connections whose clients have made no
 * progress for some time, starting with the connections that hold the most bytes.
 */
final class MemoryBudget {
    /** The maximum time for which a client may receive nothing while replies are at their limit. */
    static final Duration FULL_STALL_TIMEOUT = Duration.ofSeconds(5);
    /**
     * The maximum number of request bytes with which a connection still counts as holding little memory; lower if the
     * limit is small.
     */
    private static final int LITTLE_BYTES = 16 * 1024;
    /** The ratio of the request timeout to {@link #fullIdleTimeout}. */
    private static final int FULL_IDLE_PART = 15;
    /** The ratio of the reply limit to the wait limit. */
    private static final int WAITS_PART = 4;

    private static final int CONNECTION_PART = 4;
    private static final int ADDRESS_PART = 2;

    /** The maximum memory of the requests of one connection; see {@link NetworkLimits#connectionInFlightBytes}. */
    final long connectionLimitBytes;
    /** The maximum idle time of a client while the requests of all connections are at their limit. */
    final Duration fullIdleTimeout;

    private final long requestLimitBytes;
    private final long replyLimitBytes;
    private final long limitForLittleBytes;
    private final long limitForMuchBytes;
    private final long littleBytes;
    private final long repliesFreeBytes;
    private final long waitLimitBytes;
    private final EventExecutor timer;

    final AtomicLong requestBytes = new AtomicLong();
    final AtomicLong replyBytes = new AtomicLong();
    final AtomicLong waitBytes = new AtomicLong();
    final LongAdder closedForRequests = new LongAdder();
    final LongAdder closedForReplies = new LongAdder();
    private final Map<ClientSubnet, Long> waitsByAddress = new ConcurrentHashMap<>();

    private final Set<ConnectionMemory> connections = ConcurrentHashMap.newKeySet();
    /**
     * The connections that wait for space for requests, in the order in which they began to wait. The value is whether
     * the connection holds part of a request and nothing else. Guarded by this.
     */
    private final Map<ConnectionMemory, Boolean> readers = new LinkedHashMap<>();
    /** The connections that wait for space for replies. Guarded by this. */
    private final Set<ConnectionMemory> replyingConnections = new HashSet<>();
    /** The connection that is the exception to the limits. Changed under the lock. */
    private volatile @Nullable ConnectionMemory excepted;
    /** Whether there is no space for replies. Changed under the lock. */
    private volatile boolean spent;

    private final AtomicBoolean watching = new AtomicBoolean();

    /** Creates an empty budget; {@code timer} runs the checks for clients that make no progress. */
    MemoryBudget(NetworkLimits limits, EventExecutor timer) {
        this.connectionLimitBytes = limits.connectionInFlightBytes();
        this.fullIdleTimeout = limits.requestTimeout().dividedBy(FULL_IDLE_PART);
        this.requestLimitBytes = limits.totalInFlightBytes();
        this.replyLimitBytes = limits.totalReplyBytes();
        this.limitForLittleBytes = requestLimitBytes - requestLimitBytes / 8;
        this.limitForMuchBytes = requestLimitBytes - requestLimitBytes / 4;
        this.littleBytes = Math.min(LITTLE_BYTES, requestLimitBytes / 64);
        this.repliesFreeBytes = replyLimitBytes - replyLimitBytes / 8;
        this.waitLimitBytes = replyLimitBytes / WAITS_PART;
        this.timer = timer;
    }

    long nanoTime() {
        return timer.ticker().nanoTime();
    }

    void opened(ConnectionMemory connection) {
        connections.add(connection);
    }

    synchronized void closed(ConnectionMemory connection) {
        connections.remove(connection);
        readers.remove(connection);
        replyingConnections.remove(connection);
        settled(connection);
    }

    /** Counts bytes of requests. A negative number releases bytes, and wakes the connections that wait for space. */
    void addRequests(long bytes) {
        long held = requestBytes.addAndGet(bytes);
        if (bytes > 0 && held >= limitForMuchBytes) {
            watch();
        } else if (crosses(limitForMuchBytes, held, bytes)
                || crosses(limitForLittleBytes, held, bytes)
                || crosses(requestLimitBytes, held, bytes)) {
            wake(readers.keySet());
        }
    }

    private static boolean crosses(long limit, long held, long added) {
        return held < limit && held - added >= limit;
    }

    /** Wakes the waiting connections, without holding the lock. */
    private void wake(Collection<ConnectionMemory> waiting) {
        List<ConnectionMemory> all;
        synchronized (this) {
            all = List.copyOf(waiting);
            waiting.clear();
        }
        all.forEach(ConnectionMemory::wake);
    }

    /** Whether there is space for more requests from a connection whose requests hold this number of bytes. */
    boolean hasRoom(long connectionBytes) {
        long limit = limitForMuchBytes;
        if (connectionBytes == 0) {
            limit = requestLimitBytes;
        } else if (connectionBytes <= littleBytes) {
            limit = limitForLittleBytes;
        }
        return requestBytes.get() < limit;
    }

    /**
     * Whether the connection may continue to read. A connection that may not continue is woken when there may be space
     * again. A connection that has {@code begun}, that is, holds part of a request and nothing else, may become the
     * exception.
     */
    boolean admits(ConnectionMemory connection, boolean begun) {
        return hasRoom(connection.requestBytes()) || admitsOrWakes(connection, begun);
    }

    /** Checks again under the lock, so that no memory can become free between the check and the wait. */
    private synchronized boolean admitsOrWakes(ConnectionMemory connection, boolean begun) {
        if (hasRoom(connection.requestBytes())) {
            return true;
        }
        if (begun && (excepted == null || excepted == connection)) {
            excepted = connection;
            readers.remove(connection);
            return true;
        }
        readers.put(connection, begun);
        return false;
    }

    /**
     * Records that all requests of a connection have replies. If the connection is the exception, the next waiting
     * connection becomes the exception.
     */
    void settled(ConnectionMemory connection) {
        // Checked without the lock, because this runs for every request.
        if (excepted != connection) {
            return;
        }
        synchronized (this) {
            if (excepted == connection) {
                excepted = readers.keySet().stream()
                        .filter(readers::get)
                        .findFirst()
                        .orElse(null);
                if (excepted != null) {
                    readers.remove(excepted);
                    excepted.wake();
                }
            }
        }
    }

    /** Counts bytes of replies. A negative number releases bytes, and wakes the connections that wait for space. */
    void addReplies(long bytes) {
        long held = replyBytes.addAndGet(bytes);
        if (spent ? held <= repliesFreeBytes : held >= replyLimitBytes) {
            updateSpent();
        }
    }

    private void updateSpent() {
        boolean freed;
        synchronized (this) {
            if (replyBytes.get() >= replyLimitBytes) {
                spent = true;
                watch();
            }
            // Other threads may have released bytes before this thread marked the budget as spent.
            freed = spent && replyBytes.get() <= repliesFreeBytes;
            if (freed) {
                spent = false;
            }
        }
        if (freed) {
            wake(replyingConnections);
        }
    }

    /** Whether there is space for replies. If there is none, the connection is woken when there is space again. */
    boolean hasReplyRoom(ConnectionMemory connection) {
        return !spent || hasReplyRoomOrWakes(connection);
    }

    private synchronized boolean hasReplyRoomOrWakes(ConnectionMemory connection) {
        if (spent && connections.contains(connection)) {
            replyingConnections.add(connection);
        }
        return !spent;
    }

    /**
     * Reserves memory for waits of a connection whose waits already use {@code connectionBytes}. Returns false if a
     * limit would be exceeded.
     */
    boolean reserveWait(@Nullable ClientSubnet peer, long connectionBytes, long bytes) {
        if (connectionBytes + bytes > waitLimitBytes / CONNECTION_PART) {
            return false;
        }
        long all = waitBytes.addAndGet(bytes);
        long ofAddress = peer == null ? 0 : waitsByAddress.merge(peer, bytes, Long::sum);
        if (all <= waitLimitBytes && ofAddress <= waitLimitBytes / ADDRESS_PART) {
            return true;
        }
        releaseWait(peer, bytes);
        return false;
    }

    void releaseWait(@Nullable ClientSubnet peer, long bytes) {
        waitBytes.addAndGet(-bytes);
        if (peer != null) {
            waitsByAddress.computeIfPresent(peer, (same, held) -> held == bytes ? null : held - bytes);
        }
    }

    private void watch() {
        if (watching.compareAndSet(false, true)) {
            long nanos = Math.min(fullIdleTimeout.toNanos(), FULL_STALL_TIMEOUT.toNanos());
            timer.schedule(this::closeInactive, nanos, TimeUnit.NANOSECONDS);
        }
    }

    /** Closes connections whose clients make no progress, until an eighth of the limit that was reached is free. */
    private void closeInactive() {
        watching.set(false);
        long now = nanoTime();
        long requests = requestBytes.get();
        if (requests >= limitForMuchBytes) {
            watch();
            long before = now - fullIdleTimeout.toNanos();
            closeGreatest(
                    requests - (limitForMuchBytes - limitForMuchBytes / 8),
                    connection -> connection.idleSince(before, littleBytes),
                    ConnectionMemory::requestBytes,
                    closedForRequests,
                    ConnectionMemory::closeIdle);
            // A complete request may wait for as long as its client chooses. If the request is small, another
            // connection may become the exception.
            ConnectionMemory exception = excepted;
            if (exception != null && exception.waitsWithLittle(littleBytes)) {
                settled(exception);
            }
        }
        if (spent) {
            watch();
            long before = now - FULL_STALL_TIMEOUT.toNanos();
            closeGreatest(
                    replyBytes.get() - repliesFreeBytes,
                    connection -> connection.stalledSince(before),
                    ConnectionMemory::replyBytes,
                    closedForReplies,
                    ConnectionMemory::closeStalled);
        }
    }

    /**
     * Closes the inactive connections that hold the most bytes, until the closed connections account for the excess.
     */
    private void closeGreatest(
            long excess,
            Predicate<ConnectionMemory> inactive,
            ToLongFunction<ConnectionMemory> bytes,
            LongAdder closed,
            Consumer<ConnectionMemory> close) {
        // The numbers of bytes change during sorting, so the number of each connection is read only once.
        record Holder(ConnectionMemory connection, long bytes) {}
        var greatest = connections.stream()
                .filter(inactive)
                .map(connection -> new Holder(connection, bytes.applyAsLong(connection)))
                .sorted(Comparator.comparingLong(Holder::bytes).reversed())
                .iterator();
        long left = excess;
        while (left > 0 && greatest.hasNext()) {
            Holder next = greatest.next();
            left -= next.bytes();
            // A connection may still be closing at the next check, and must not be closed or counted twice.
            if (next.connection().condemn()) {
                closed.increment();
                close.accept(next.connection());
            }
        }
    }
}
