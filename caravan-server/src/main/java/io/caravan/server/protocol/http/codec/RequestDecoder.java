package io.caravan.server.protocol.http.codec;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpRequestDecoder;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Makes requests of bytes, and takes what could be read in two ways for none. While a request is in hand, what came behind
 * it stays the bytes that it is, which are counted, and no more is read: requests of a few bytes would take many times as
 * much memory. The event loop's alone.
 */
public final class RequestDecoder extends HttpRequestDecoder {
    /** A name of the greatest length with each byte in three, and a query. */
    static final int MAX_LINE_BYTES = 8 * 1024;

    public static final int MAX_HEADER_BYTES = 16 * 1024;
    private static final int MAX_PART_BYTES = 64 * 1024;

    private final BooleanSupplier busy;
    /** Null when no bytes are held back. */
    private @Nullable ChannelHandlerContext holding;

    private boolean begun;

    /**
     * Makes a decoder.
     *
     * @param busy whether a request is in hand, so that none may follow; {@link #resume} tells when it is not any more
     */
    public RequestDecoder(BooleanSupplier busy) {
        super(new HttpDecoderConfig()
                .setMaxInitialLineLength(MAX_LINE_BYTES)
                .setMaxHeaderSize(MAX_HEADER_BYTES)
                .setMaxChunkSize(MAX_PART_BYTES)
                .setAllowDuplicateContentLengths(false)
                .setStrictLineParsing(true)
                .setUseRfc9112TransferEncoding(true));
        this.busy = busy;
    }

    /** Whether bytes wait for the request in hand. */
    public boolean holding() {
        return holding != null;
    }

    /** Whether bytes have come of something that is not yet there whole: a head, or a part of a body. */
    public boolean begun() {
        return begun;
    }

    /** Decodes what was held back, up to the end of the next request. */
    public void resume() {
        ChannelHandlerContext context = holding;
        if (context == null) {
            return;
        }
        holding = null;
        try {
            channelRead(context, Unpooled.EMPTY_BUFFER);
        } catch (Exception | Error broken) {
            // As a pipeline does with what its handlers throw.
            context.fireExceptionCaught(broken);
        }
    }

    @Override
    protected void decode(ChannelHandlerContext context, ByteBuf in, List<Object> out) throws Exception {
        if (busy.getAsBoolean()) {
            holding = context;
            // At once, or the socket would be read several times more.
            context.channel().config().setAutoRead(false);
            return;
        }
        int decoded = out.size();
        super.decode(context, in, out);
        begun = out.size() == decoded;
    }

    /** While bytes are held, Netty's decoder would ask for more of them. */
    @Override
    public void channelReadComplete(ChannelHandlerContext context) throws Exception {
        if (holding == null) {
            super.channelReadComplete(context);
        } else {
            context.fireChannelReadComplete();
        }
    }

    /** Netty's decoder would drop what is held when the client says that it sends no more. */
    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) throws Exception {
        if (event instanceof ChannelInputShutdownEvent && holding != null) {
            context.fireUserEventTriggered(event);
        } else {
            super.userEventTriggered(context, event);
        }
    }
}
