package io.caravan.server.protocol.http.codec;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.handler.codec.http.DefaultHttpHeadersFactory;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpHeadersFactory;
import io.netty.handler.codec.http.HttpRequestDecoder;
import io.netty.handler.codec.http.TooLongHttpHeaderException;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Decodes requests, and refuses those that could be read in two ways. While a request is being handled, what follows it
 * stays undecoded, where its bytes are counted, and nothing more is read: decoded, small requests would take many times
 * as much memory. Used only on the event loop.
 */
public final class RequestDecoder extends HttpRequestDecoder {
    /** Room for a name of the maximum length, each of its bytes percent-encoded, and a query. */
    static final int MAX_LINE_BYTES = 8 * 1024;

    public static final int MAX_HEADER_BYTES = 16 * 1024;
    private static final int MAX_PART_BYTES = 64 * 1024;
    /** Each takes many times its bytes in memory. */
    private static final int MAX_HEADERS = 128;

    private final BooleanSupplier busy;
    /** Null when no bytes are held back. */
    private @Nullable ChannelHandlerContext holding;

    private boolean begun;

    /** A decoder that asks whether a request is being handled, so that the next must wait until {@link #resume}. */
    public RequestDecoder(BooleanSupplier busy) {
        super(new HttpDecoderConfig()
                .setMaxInitialLineLength(MAX_LINE_BYTES)
                .setMaxHeaderSize(MAX_HEADER_BYTES)
                .setMaxChunkSize(MAX_PART_BYTES)
                .setHeadersFactory(new FewHeaders(DefaultHttpHeadersFactory.headersFactory()))
                .setTrailersFactory(new FewHeaders(DefaultHttpHeadersFactory.trailersFactory()))
                .setAllowDuplicateContentLengths(false)
                .setStrictLineParsing(true)
                .setUseRfc9112TransferEncoding(true));
        this.busy = busy;
    }

    /** Whether bytes wait for the current request to end. */
    public boolean holding() {
        return holding != null;
    }

    /** Bytes that wait undecoded. */
    public int heldBytes() {
        return actualReadableBytes();
    }

    /** Whether part of a head, or of a chunk of a body, has arrived. */
    public boolean begun() {
        return begun;
    }

    /** Decodes the bytes held back, up to the end of the next request. */
    public void resume() {
        ChannelHandlerContext context = holding;
        if (context == null) {
            return;
        }
        holding = null;
        try {
            channelRead(context, Unpooled.EMPTY_BUFFER);
        } catch (Exception | Error broken) {
            // As a pipeline does with exceptions of its handlers.
            context.fireExceptionCaught(broken);
        }
    }

    @Override
    protected void decode(ChannelHandlerContext context, ByteBuf in, List<Object> out) throws Exception {
        if (busy.getAsBoolean()) {
            holding = context;
            // Immediately, or the socket would be read several times more.
            context.channel().config().setAutoRead(false);
            return;
        }
        int decoded = out.size();
        super.decode(context, in, out);
        begun = out.size() == decoded;
    }

    /** While bytes are held back, Netty's decoder would request more. */
    @Override
    public void channelReadComplete(ChannelHandlerContext context) throws Exception {
        if (holding == null) {
            super.channelReadComplete(context);
        } else {
            context.fireChannelReadComplete();
        }
    }

    /** Netty's decoder would drop the bytes held back when the client shuts down its output. */
    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) throws Exception {
        if (event instanceof ChannelInputShutdownEvent && holding != null) {
            context.fireUserEventTriggered(event);
        } else {
            super.userEventTriggered(context, event);
        }
    }

    /** Makes headers that reject one too many before it takes memory. */
    private static final class FewHeaders implements HttpHeadersFactory {
        private final DefaultHttpHeadersFactory usual;

        FewHeaders(DefaultHttpHeadersFactory usual) {
            this.usual = usual;
        }

        @Override
        public HttpHeaders newHeaders() {
            AtomicInteger count = new AtomicInteger();
            return usual.withNameValidator(name -> {
                        if (count.incrementAndGet() > MAX_HEADERS) {
                            throw new TooLongHttpHeaderException("more than " + MAX_HEADERS + " headers");
                        }
                        usual.getNameValidator().validateName(name);
                    })
                    .newHeaders();
        }

        @Override
        public HttpHeaders newEmptyHeaders() {
            return newHeaders();
        }
    }
}
