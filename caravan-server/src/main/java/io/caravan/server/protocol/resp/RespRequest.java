package io.caravan.server.protocol.resp;

/** A client's request: a command, or a request to reject. */
sealed interface RespRequest permits Command, RespRequest.Rejected {

    /**
     * A request to which the server replies with an error.
     *
     * @param error the prefix and message of the error
     * @param last whether the connection ends after the error, because the start of the next request is unknown
     */
    record Rejected(String error, boolean last) implements RespRequest {

        /** Creates a rejected request that ends the connection. */
        public Rejected(String error) {
            this(error, true);
        }
    }
}
