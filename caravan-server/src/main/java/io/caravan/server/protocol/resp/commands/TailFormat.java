package io.caravan.server.protocol.resp.commands;

import io.caravan.server.protocol.resp.codec.Protocol;
import io.caravan.server.protocol.resp.codec.Reply;
import io.caravan.server.protocol.resp.codec.RespBytes;
import io.caravan.server.protocol.resp.codec.ValueFormat;
import io.netty.buffer.ByteBuf;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;

/** {@code [next sequence, [[sequence, value], ...], at the end of a closed document, id of the document]}. */
final class TailFormat implements ValueFormat {
    private final Protocol protocol;
    private final long from;
    private final BooleanSupplier atEnd;
    private final LongSupplier documentId;

    /**
     * A format for one answer.
     *
     * @param from the sequence that was asked for
     * @param atEnd whether nothing can ever follow the values; asked behind the last one
     * @param documentId asked then too
     */
    TailFormat(Protocol protocol, long from, BooleanSupplier atEnd, LongSupplier documentId) {
        this.protocol = protocol;
        this.from = from;
        this.atEnd = atEnd;
        this.documentId = documentId;
    }

    @Override
    public void begin(ByteBuf out, long count) {
        RespBytes.putNumber(out, '*', 4);
        RespBytes.putNumber(out, ':', from + count);
        RespBytes.putNumber(out, '*', count);
    }

    @Override
    public void beforeValue(ByteBuf out, long sequence) {
        RespBytes.putNumber(out, '*', 2);
        RespBytes.putNumber(out, ':', sequence);
    }

    @Override
    public void end(ByteBuf out) {
        new Reply.Bool(atEnd.getAsBoolean()).encode(out, protocol);
        RespBytes.putNumber(out, ':', documentId.getAsLong());
    }
}
