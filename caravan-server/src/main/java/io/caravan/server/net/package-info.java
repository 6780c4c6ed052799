/**
 * What all listeners share, whatever protocol they speak.
 *
 * <p>{@link io.caravan.server.net.Network} has the event loops and accepts connections. Each gets, before the handlers
 * of its {@link io.caravan.server.net.WireProtocol}: TLS ({@link io.caravan.server.net.Tls}), a place among the
 * connections ({@link io.caravan.server.net.ConnectionSlots}), shares of the memory for requests and for answers
 * ({@link io.caravan.server.net.InFlight}, {@link io.caravan.server.net.AnswerMemory}), and
 * {@link io.caravan.server.net.Deadlines}. The protocol in turn says how each {@link io.caravan.server.net.Connection}
 * stands.
 */
@NullMarked
package io.caravan.server.net;

import org.jspecify.annotations.NullMarked;
