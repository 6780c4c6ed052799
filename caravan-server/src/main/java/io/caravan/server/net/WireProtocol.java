package io.caravan.server.net;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;

/** What is spoken on a listener's connections. */
public interface WireProtocol {

    /** Its name, for people: {@code RESP}, {@code HTTP}. */
    String name();

    /**
     * Sets a new connection up: adds the protocol's handlers to the end of the pipeline. They get plain bytes.
     *
     * @param inFlight the connection's share of memory, which the handlers have to ask before they read on
     */
    Connection connect(Channel channel, InFlight inFlight);

    /** What a connection is told that is one too many. */
    ByteBuf tooManyConnections();
}
