package io.caravan.server.protocol.resp.codec;

import io.netty.buffer.ByteBuf;

/** How a {@code ValueStream} writes what comes before each value, and around all of them. */
public interface ValueFormat {
    /** An array of the values. */
    ValueFormat VALUES = new ValueFormat() {
        @Override
        public void begin(ByteBuf out, long count) {
            RespBytes.putNumber(out, '*', count);
        }

        @Override
        public void beforeValue(ByteBuf out, long sequence) {}
    };

    /** Writes what comes before all values. */
    void begin(ByteBuf out, long count);

    /** Writes what comes before one value, a few bytes. */
    void beforeValue(ByteBuf out, long sequence);

    /** Writes what comes behind all values, a few bytes. */
    default void end(ByteBuf out) {}
}
