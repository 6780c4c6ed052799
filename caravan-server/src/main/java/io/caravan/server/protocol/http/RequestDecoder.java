package io.caravan.server.protocol.http;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.handler.codec.http.DefaultHttpHeadersFactory;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpHeadersFactory;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpRequestDecoder;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.codec.http.TooLongHttpHeaderException;
import io.netty.util.ByteProcessor;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Decodes HTTP requests, and rejects ambiguous ones. Used only on the event loop.
 *
 * <p>Bytes that arrive while a request is being handled are held back: they are counted but not decoded, and the socket
 * is not read until the request ends. Small requests, once decoded, would take many times the memory of their bytes.
 */
public final class RequestDecoder extends HttpRequestDecoder {
    /** Enough for a query and a name of maximum length, even if every byte of the name is percent-encoded. */
    static final int MAX_LINE_BYTES = 8 * 1024;

    public static final int MAX_HEADER_BYTES = 16 * 1024;
    private static final int MAX_PART_BYTES = 64 * 1024;
    /** Maximum number of headers; limited because a header takes many times as much memory as its bytes. */
    private static final int MAX_HEADERS = 128;
    /** Approximate memory that a header takes in addition to its bytes. */
    private static final int HEADER_OVERHEAD_BYTES = 128;

    private final BooleanSupplier busy;
    /** The number of headers in the head or trailer that is arriving. */
    private final int[] headers;
    /** The context of the decoder while bytes are held back; null otherwise. */
    private @Nullable ChannelHandlerContext holding;

    private boolean begun;
    /** Whether the last request has been decoded completely. */
    private boolean whole;
    /** The number of decoded bytes of an incomplete head or chunk. */
    private long begunBytes;

    /** Creates a decoder. Bytes that arrive while {@code busy} returns true are held back until {@link #resume}. */
    public RequestDecoder(BooleanSupplier busy) {
        this(busy, new int[1]);
    }

    private RequestDecoder(BooleanSupplier busy, int[] headers) {
        super(new HttpDecoderConfig()
                .setMaxInitialLineLength(MAX_LINE_BYTES)
                .setMaxHeaderSize(MAX_HEADER_BYTES)
                .setMaxChunkSize(MAX_PART_BYTES)
                .setHeadersFactory(limited(DefaultHttpHeadersFactory.headersFactory(), headers))
                .setTrailersFactory(limited(DefaultHttpHeadersFactory.trailersFactory(), headers))
                .setAllowDuplicateContentLengths(false)
                .setStrictLineParsing(true)
                .setUseRfc9112TransferEncoding(true));
        this.busy = busy;
        this.headers = headers;
    }

    /** Limits the number of headers. A header over the limit is rejected before it takes memory. */
    private static HttpHeadersFactory limited(DefaultHttpHeadersFactory usual, int[] count) {
        return usual.withNameValidator(name -> {
            if (++count[0] > MAX_HEADERS) {
                throw new TooLongHttpHeaderException("more than " + MAX_HEADERS + " headers");
            }
            usual.getNameValidator().validateName(name);
        });
    }

    /** Whether bytes are held back until the current request ends. */
    public boolean holding() {
        return holding != null;
    }

    /** Returns the approximate memory that the held-back bytes and an incomplete head take. */
    public long heldBytes() {
        return actualReadableBytes() + (begun ? begunBytes + (long) headers[0] * HEADER_OVERHEAD_BYTES : 0);
    }

    /** Returns the approximate memory that a complete head takes. */
    static long headBytes(HttpRequest head) {
        long bytes = head.uri().length();
        Iterator<Map.Entry<CharSequence, CharSequence>> headers = head.headers().iteratorCharSequence();
        while (headers.hasNext()) {
            Map.Entry<CharSequence, CharSequence> header = headers.next();
            bytes += header.getKey().length() + header.getValue().length() + HEADER_OVERHEAD_BYTES;
        }
        return bytes;
    }

    /** Whether part of a head, or of a chunk of a body, has arrived. */
    public boolean begun() {
        return begun;
    }

    /** Decodes the held-back bytes, up to the end of the next request. */
    public void resume() {
        ChannelHandlerContext context = holding;
        if (context == null) {
            return;
        }
        holding = null;
        try {
            channelRead(context, Unpooled.EMPTY_BUFFER);
        } catch (Exception | Error broken) {
            // A Netty pipeline handles an exception from a handler in the same way.
            context.fireExceptionCaught(broken);
        }
    }

    @Override
    protected void decode(ChannelHandlerContext context, ByteBuf in, List<Object> out) throws Exception {
        if (busy.getAsBoolean()) {
            if (whole && skipLineEnds(in)) {
                return;
            }
            holding = context;
            // Without this call, Netty would read the socket several more times.
            context.channel().config().setAutoRead(false);
            return;
        }
        int decoded = out.size();
        int readable = in.readableBytes();
        super.decode(context, in, out);
        begun = out.size() == decoded;
        if (!begun) {
            whole = out.get(out.size() - 1) instanceof LastHttpContent;
            headers[0] = 0;
        }
        begunBytes = begun ? begunBytes + readable - in.readableBytes() : 0;
    }

    /**
     * Skips line ends between requests, which have no meaning. Returns false if other bytes follow. If line ends were
     * held back, the server would not read the socket, and might not detect that the client has disconnected.
     */
    private static boolean skipLineEnds(ByteBuf in) {
        int next = in.forEachByte(ByteProcessor.FIND_NON_CRLF);
        in.readerIndex(next < 0 ? in.writerIndex() : next);
        return next < 0;
    }

    /** Suppresses the read that Netty's decoder would request while bytes are held back. */
    @Override
    public void channelReadComplete(ChannelHandlerContext context) throws Exception {
        if (holding == null) {
            super.channelReadComplete(context);
        } else {
            context.fireChannelReadComplete();
        }
    }

    /** Keeps the held-back bytes when the client shuts down its output, whereas Netty's decoder would decode them. */
    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) throws Exception {
        if (event instanceof ChannelInputShutdownEvent && holding != null) {
            context.fireUserEventTriggered(event);
        } else {
            super.userEventTriggered(context, event);
        }
    }
}
