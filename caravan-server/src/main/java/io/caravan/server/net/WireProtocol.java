package io.caravan.server.net;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import java.time.Duration;

/** The protocol of a listener. */
public interface WireProtocol {

    /**
     * Sets up a new connection: adds the protocol's handlers to the end of the pipeline, which provides decrypted
     * bytes.
     *
     * @param inFlight the connection's share of the memory for requests, which the handlers check before they read on
     * @param answers its share of the memory for replies, which they check before they create another one
     */
    Connection connect(Channel channel, InFlight inFlight, AnswerMemory answers);

    /** Returns the idle timeout of connections if none is configured; zero means never. */
    Duration idleTimeout();

    /** Returns the message for a connection that is refused because of a connection limit. */
    ByteBuf tooManyConnections();
}
