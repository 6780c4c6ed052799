package io.caravan.server.net;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import java.time.Duration;

/** A protocol that a listener speaks. */
public interface WireProtocol {

    /**
     * Sets a new connection up: adds the protocol's handlers to the end of the pipeline, which has decrypted bytes.
     *
     * @param inFlight the connection's share of the memory for requests, which the handlers ask before they read on
     * @param answers its share of the memory for answers, which they ask before they make another one
     */
    Connection connect(Channel channel, InFlight inFlight, AnswerMemory answers);

    /** How long a connection may be idle when nothing else is configured; zero is forever. */
    Duration idleTimeout();

    /** What the server sends to a connection that it refuses because there are too many. */
    ByteBuf tooManyConnections();
}
