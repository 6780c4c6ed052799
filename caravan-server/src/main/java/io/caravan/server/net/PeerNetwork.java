package io.caravan.server.net;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The network of a peer, as limits count it: its IPv4 address, or the 64-bit network of its IPv6 address, which usually
 * belongs to one customer.
 *
 * @param loopback whether the network is this machine, which has no limits: its users could harm the server by other
 *     means, and a proxy on it represents many clients
 */
public record PeerNetwork(ByteBuffer address, boolean loopback) {
    private static final int IPV6_NETWORK_BYTES = 8;

    /** Returns the network of an internet address; null for any other address. */
    public static @Nullable PeerNetwork of(SocketAddress peer) {
        InetAddress address = peer instanceof InetSocketAddress internet ? internet.getAddress() : null;
        if (address == null) {
            return null;
        }
        byte[] bytes = address.getAddress();
        return new PeerNetwork(
                ByteBuffer.wrap(address instanceof Inet6Address ? Arrays.copyOf(bytes, IPV6_NETWORK_BYTES) : bytes),
                address.isLoopbackAddress());
    }
}
