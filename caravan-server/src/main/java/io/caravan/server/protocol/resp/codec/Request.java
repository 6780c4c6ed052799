package io.caravan.server.protocol.resp.codec;

/** What a client sent. */
public sealed interface Request permits Command, Request.Malformed, Request.Refused {

    /**
     * Bytes that are no request. The connection ends after the answer, because nobody knows where the next one starts.
     *
     * @param problem what is wrong with them
     */
    record Malformed(String problem) implements Request {}

    /**
     * Stands for a request that is answered with an error whatever it is, and is the connection's last.
     *
     * @param error the prefix and the text
     */
    record Refused(String error) implements Request {}
}
