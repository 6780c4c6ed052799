package io.caravan.server.protocol.http.connection;

import io.caravan.server.protocol.http.codec.Problem;
import io.caravan.server.protocol.http.codec.Problems;

/**
 * What a route does. Called on the connection's event loop, where it must not block, when the request has arrived
 * completely; the answer may come later and from any thread.
 */
public interface Endpoint {

    /**
     * Handles a request.
     *
     * @throws Problem which becomes the answer, as does any other exception, translated by {@link Problems}
     */
    void handle(Exchange exchange);
}
