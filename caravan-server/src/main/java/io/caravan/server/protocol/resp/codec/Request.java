package io.caravan.server.protocol.resp.codec;

/** What a client sent. */
public sealed interface Request permits Command, Request.Refused {

    /**
     * Stands for a request that is answered with an error.
     *
     * @param error the prefix and the text
     * @param last whether the connection ends, as after a malformed request, behind which the start of the next one is
     *     unknown
     */
    record Refused(String error, boolean last) implements Request {

        /** The last request of a connection. */
        public Refused(String error) {
            this(error, true);
        }
    }
}
