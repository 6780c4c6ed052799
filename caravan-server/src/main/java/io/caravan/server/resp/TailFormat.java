package io.caravan.server.resp;

import io.netty.buffer.ByteBuf;
import java.util.function.BooleanSupplier;

/** {@code [next sequence, [[sequence, value], ...], at the end of a closed document]}. */
final class TailFormat implements ValueFormat {
    private final Protocol protocol;
    private final long from;
    private final BooleanSupplier atEnd;

    /**
     * A format for one answer.
     *
     * @param from the sequence that was asked for
     * @param atEnd whether nothing can ever follow the values; asked behind the last one
     */
    TailFormat(Protocol protocol, long from, BooleanSupplier atEnd) {
        this.protocol = protocol;
        this.from = from;
        this.atEnd = atEnd;
    }

    @Override
    public void begin(ByteBuf out, long count) {
        RespBytes.putNumber(out, '*', 3);
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
    }
}
