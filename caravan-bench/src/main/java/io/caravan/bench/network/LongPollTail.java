package io.caravan.bench.network;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.function.LongConsumer;

/** Sends the next request after each answer. */
final class LongPollTail extends Tail {
    static final String MODE = "long-poll";

    private final ByteBuf values = Unpooled.buffer();

    LongPollTail(HttpLink link, String stream, String offset, LongConsumer stamps) {
        super(link, stream, MODE, offset, stamps);
    }

    @Override
    void take(ByteBuf bytes) {
        values.writeBytes(bytes);
    }

    @Override
    void complete() {
        String next = headers().get(Requests.NEXT_OFFSET);
        if (next != null) {
            moveTo(next);
        }
        tell(values);
        values.clear();
    }
}
