package io.caravan.server.protocol.resp.codec;

/** What a client sent. */
public sealed interface Request permits Command, Request.Refused {

    /**
     * Stands for a request that is answered with an error whatever it is, and is the connection's last. One whose bytes
     * are malformed is, because nobody knows where the next one starts.
     *
     * @param error the prefix and the text
     */
    record Refused(String error) implements Request {}
}
