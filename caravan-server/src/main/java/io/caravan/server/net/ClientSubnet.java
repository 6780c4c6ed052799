package io.caravan.server.net;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The network by which limits identify a client: its IPv4 address, or the first 64 bits of its IPv6 address, which
 * usually identify one customer.
 *
 * @param loopback whether the client is on this machine. Such clients are exempt from the limits: users of the machine
 *     could harm the server by other means, and a proxy on the machine represents many clients
 */
public record ClientSubnet(ByteBuffer address, boolean loopback) {
    private static final int IPV6_NETWORK_BYTES = 8;

    /** Returns the network of an IP address, or null for any other address. */
    public static @Nullable ClientSubnet of(SocketAddress peer) {
        InetAddress address = peer instanceof InetSocketAddress internet ? internet.getAddress() : null;
        if (address == null) {
            return null;
        }
        byte[] bytes = address.getAddress();
        return new ClientSubnet(
                ByteBuffer.wrap(address instanceof Inet6Address ? Arrays.copyOf(bytes, IPV6_NETWORK_BYTES) : bytes),
                address.isLoopbackAddress());
    }
}
