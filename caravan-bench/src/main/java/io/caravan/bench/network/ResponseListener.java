package io.caravan.bench.network;

import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.HttpResponse;

/** Receives the response to one request, on the event loop. */
interface ResponseListener {
    /** Status and headers. */
    void head(HttpResponse head);

    /**
     * A part of the body.
     *
     * @param bytes valid only during the call
     */
    void body(ByteBuf bytes);

    /** The response is complete. */
    void end();

    /** The connection closed before the end of the response; no further call follows. */
    void lost(String why);
}
