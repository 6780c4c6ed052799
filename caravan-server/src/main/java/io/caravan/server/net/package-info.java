/**
 * What all listeners share, whatever they speak.
 *
 * <p>{@link io.caravan.server.net.Network} has the event loops and accepts connections. Each gets, before the handlers of
 * its {@link io.caravan.server.net.WireProtocol}: TLS ({@link io.caravan.server.net.Tls}), a place among the connections
 * ({@link io.caravan.server.net.ConnectionSlots}), a share of the memory for requests ({@link
 * io.caravan.server.net.InFlight}), and deadlines ({@link io.caravan.server.net.RequestDeadline}, {@link
 * io.caravan.server.net.IdleClose}). In return the protocol tells how each {@link io.caravan.server.net.Connection}
 * stands.
 */
@NullMarked
package io.caravan.server.net;

import org.jspecify.annotations.NullMarked;
