package io.caravan.server.http;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpRequestDecoder;
import io.netty.handler.codec.http.LastHttpContent;
import java.util.List;

/** Reads requests, takes what could be read in two ways for none, and knows whether one has begun. */
final class RequestReader extends HttpRequestDecoder {
    /** A name of the greatest length with each byte in three, and a query. */
    static final int MAX_LINE_BYTES = 8 * 1024;

    static final int MAX_HEADER_BYTES = 16 * 1024;
    private static final int MAX_PART_BYTES = 64 * 1024;

    private boolean midRequest;

    RequestReader() {
        super(new HttpDecoderConfig()
                .setMaxInitialLineLength(MAX_LINE_BYTES)
                .setMaxHeaderSize(MAX_HEADER_BYTES)
                .setMaxChunkSize(MAX_PART_BYTES)
                .setAllowDuplicateContentLengths(false)
                .setStrictLineParsing(true)
                .setUseRfc9112TransferEncoding(true));
    }

    @Override
    protected void decode(ChannelHandlerContext context, ByteBuf bytes, List<Object> out) throws Exception {
        midRequest |= bytes.isReadable();
        super.decode(context, bytes, out);
        if (!out.isEmpty() && out.get(out.size() - 1) instanceof LastHttpContent) {
            midRequest = false;
        }
    }

    /** Whether bytes of a request have come, and not its end. */
    boolean midRequest() {
        return midRequest;
    }
}
