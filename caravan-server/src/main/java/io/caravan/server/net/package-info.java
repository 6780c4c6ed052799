/**
 * The network layer that all listeners share, regardless of their protocol.
 *
 * <p>{@link io.caravan.server.net.Network} runs the event loops and accepts connections. A connection can use TLS
 * ({@link io.caravan.server.net.Tls}). {@link io.caravan.server.net.Deadlines} closes idle and slow connections. {@link
 * io.caravan.server.net.ConnectionLimiter} limits the number of connections, and {@link
 * io.caravan.server.net.ConnectionMemory} their memory. A {@link io.caravan.server.net.WireProtocol} adds the handlers
 * of each connection, and reports its state as a {@link io.caravan.server.net.Connection}.
 */
@NullMarked
package io.caravan.server.net;

import org.jspecify.annotations.NullMarked;
