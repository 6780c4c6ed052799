package io.caravan.server.net;

import io.netty.channel.Channel;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The memory for what clients wait for without a request in progress: channels and patterns that they subscribe to,
 * places in the queues for values, streams that they follow. A connection may use a quarter, and an address half,
 * except for loopback addresses. A request that exceeds a limit is rejected. Thread-safe.
 */
public final class WaitBudget {
    private static final int CONNECTION_PART = 4;
    private static final int ADDRESS_PART = 2;

    private final long limitBytes;
    private final AtomicLong heldBytes = new AtomicLong();
    private final Map<PeerNetwork, Long> heldByAddress = new ConcurrentHashMap<>();

    WaitBudget(long limitBytes) {
        this.limitBytes = limitBytes;
    }

    /** Returns the share of a connection, which is empty at first. */
    Share share(Channel connection) {
        PeerNetwork peer = PeerNetwork.of(connection.remoteAddress());
        return new Share(peer == null || peer.loopback() ? null : peer);
    }

    long heldBytes() {
        return heldBytes.get();
    }

    private boolean take(@Nullable PeerNetwork peer, long bytes) {
        long all = heldBytes.addAndGet(bytes);
        long ofAddress = peer == null ? 0 : heldByAddress.merge(peer, bytes, Long::sum);
        if (all <= limitBytes && ofAddress <= limitBytes / ADDRESS_PART) {
            return true;
        }
        give(peer, bytes);
        return false;
    }

    private void give(@Nullable PeerNetwork peer, long bytes) {
        heldBytes.addAndGet(-bytes);
        if (peer != null) {
            heldByAddress.computeIfPresent(peer, (same, held) -> held == bytes ? null : held - bytes);
        }
    }

    /** The memory of one connection, all of which is released when the connection closes. Thread-safe. */
    public final class Share {
        private final @Nullable PeerNetwork peer;
        private long shareBytes;
        private boolean closed;

        private Share(@Nullable PeerNetwork peer) {
            this.peer = peer;
        }

        /**
         * Reserves memory. Returns false if the connection, its address, or all connections together are at their
         * limit.
         */
        public synchronized boolean take(long bytes) {
            if (closed) {
                return true;
            }
            if (shareBytes + bytes > limitBytes / CONNECTION_PART || !WaitBudget.this.take(peer, bytes)) {
                return false;
            }
            shareBytes += bytes;
            return true;
        }

        public synchronized void give(long bytes) {
            if (!closed) {
                shareBytes -= bytes;
                WaitBudget.this.give(peer, bytes);
            }
        }

        synchronized void close() {
            if (!closed) {
                closed = true;
                WaitBudget.this.give(peer, shareBytes);
            }
        }
    }
}
