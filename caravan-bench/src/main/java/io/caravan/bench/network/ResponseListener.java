package io.caravan.bench.network;

import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.HttpResponse;

/** Is told of the response to one request, on the event loop. */
interface ResponseListener {
    /** Status and headers. */
    void head(HttpResponse head);

    /**
     * Part of the body.
     *
     * @param bytes valid during the call
     */
    void body(ByteBuf bytes);

    /** The response is complete. */
    void end();

    /** The connection ended first; nothing else follows. */
    void lost(String why);
}
