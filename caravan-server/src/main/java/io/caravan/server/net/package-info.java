/**
 * The network layer that all listeners share, regardless of their protocol.
 *
 * <p>{@link io.caravan.server.net.Network} has the event loops and accepts connections. Each connection has TLS
 * ({@link io.caravan.server.net.Tls}) and {@link io.caravan.server.net.Deadlines}, and counts against the limits of
 * connections ({@link io.caravan.server.net.ConnectionSlots}) and of memory
 * ({@link io.caravan.server.net.ConnectionMemory}). The handlers of its {@link io.caravan.server.net.WireProtocol}
 * follow. The protocol reports the state of each {@link io.caravan.server.net.Connection}.
 */
@NullMarked
package io.caravan.server.net;

import org.jspecify.annotations.NullMarked;
