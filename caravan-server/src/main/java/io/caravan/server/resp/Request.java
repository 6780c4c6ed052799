package io.caravan.server.resp;

/** What a client sent. */
sealed interface Request permits Command, Request.Malformed {

    /**
     * Bytes that are no request. The connection ends after the answer, because nobody knows where the next one starts.
     *
     * @param problem what is wrong with them
     */
    record Malformed(String problem) implements Request {}
}
