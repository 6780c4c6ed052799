package io.caravan.server.protocol.http.connection;

import io.caravan.server.protocol.http.codec.ProblemException;
import io.caravan.server.protocol.http.codec.Problems;

/**
 * What a route does. Called on the connection's event loop, where it must not block, when the request is there whole; the
 * answer may come later and from any thread.
 */
public interface Endpoint {

    /**
     * Begins to answer.
     *
     * @throws ProblemException which is then the answer; so is any other exception, in the words of {@link Problems}
     */
    void handle(Exchange exchange);
}
