package io.caravan.server.net;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import java.time.Duration;

/** A protocol that the clients of a listener use. */
public interface WireProtocol {

    /**
     * Sets up a new connection: adds the protocol's handlers to the end of the pipeline, which provides decrypted
     * bytes. The handlers check the connection's memory before they read more or create a reply.
     */
    Connection connect(Channel channel, ConnectionMemory memory);

    /** Returns the default idle timeout of connections; zero means no timeout. */
    Duration idleTimeout();

    /** Returns the message for a connection that is rejected because of a connection limit. */
    ByteBuf tooManyConnections();
}
