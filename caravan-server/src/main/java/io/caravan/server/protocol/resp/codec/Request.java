package io.caravan.server.protocol.resp.codec;

/** What a client sent. */
public sealed interface Request permits Command, Request.Refused {

    /**
     * Stands for a request that is answered with an error and ends the connection, such as a malformed one, after which
     * the start of the next one is unknown.
     *
     * @param error the prefix and the text
     */
    record Refused(String error) implements Request {}
}
