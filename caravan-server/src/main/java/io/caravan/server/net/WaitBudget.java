package io.caravan.server.net;

import io.netty.channel.Channel;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The memory for what clients wait for without a request that is being worked on: channels and patterns that they listen
 * to, places in the queues for values, streams that they follow. A connection may take a quarter, and an address half,
 * except for this machine's own. What finds no room is rejected. Thread-safe.
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

    /** The share of a connection that holds nothing yet. */
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

    /** What one connection takes of it; all of that is given back when the connection closes. Thread-safe. */
    public final class Share {
        private final @Nullable PeerNetwork peer;
        private long shareBytes;
        private boolean closed;

        private Share(@Nullable PeerNetwork peer) {
            this.peer = peer;
        }

        /** Takes memory, or returns false when the connection, its address or all together have all that they may. */
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

        /** Gives memory back. */
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
