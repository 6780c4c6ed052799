package io.caravan.server.security;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Counts failed attempts by address: {@value #ATTEMPTS} at once, and then one every {@value #SECONDS_PER_ATTEMPT} seconds.
 * An IPv6 address counts as its network of 64 bits, which is what one customer has. Only the last {@value #ADDRESSES}
 * addresses are remembered. Threads share it.
 */
final class FailedAttempts {
    static final int ATTEMPTS = 20;
    static final int SECONDS_PER_ATTEMPT = 3;
    static final int ADDRESSES = 10_000;

    private static final int IPV6_NETWORK_BYTES = 8;
    private static final long NANOS_PER_ATTEMPT = TimeUnit.SECONDS.toNanos(SECONDS_PER_ATTEMPT);

    private final LongSupplier nanoClock;
    /** When the address has all its attempts again, the address least recently seen first. */
    private final Map<ByteBuffer, Long> restoredNanos = new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<ByteBuffer, Long> eldest) {
            return size() > ADDRESSES;
        }
    };

    FailedAttempts(LongSupplier nanoClock) {
        this.nanoClock = nanoClock;
    }

    /** Whether the address has an attempt left. */
    synchronized boolean mayTry(InetSocketAddress peer) {
        Long restored = restoredNanos.get(key(peer));
        return restored == null || mayTry(restored - nanoClock.getAsLong());
    }

    private static boolean mayTry(long untilRestoredNanos) {
        return untilRestoredNanos <= (ATTEMPTS - 1) * NANOS_PER_ATTEMPT;
    }

    /** Takes an attempt away; returns whether that was the last. */
    synchronized boolean failed(InetSocketAddress peer) {
        long now = nanoClock.getAsLong();
        ByteBuffer key = key(peer);
        Long restored = restoredNanos.get(key);
        long untilRestored = restored == null ? 0 : Math.max(0, restored - now);
        untilRestored += NANOS_PER_ATTEMPT;
        restoredNanos.put(key, now + untilRestored);
        return !mayTry(untilRestored);
    }

    private static ByteBuffer key(InetSocketAddress peer) {
        InetAddress address = peer.getAddress();
        byte[] bytes = address.getAddress();
        return ByteBuffer.wrap(address instanceof Inet6Address ? Arrays.copyOf(bytes, IPV6_NETWORK_BYTES) : bytes);
    }
}
