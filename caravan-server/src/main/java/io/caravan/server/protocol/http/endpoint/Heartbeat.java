package io.caravan.server.protocol.http.endpoint;

import io.caravan.server.protocol.http.connection.Exchange;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.util.concurrent.Future;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * Comments in an event stream, at even intervals, because most proxies end a response that has sent nothing for a
 * minute. Clients ignore them. Each write is one or more complete events, so a comment never splits an event.
 */
final class Heartbeat {
    private static final ByteBuf COMMENT = Unpooled.unreleasableBuffer(
                    Unpooled.copiedBuffer(":\n\n", StandardCharsets.US_ASCII))
            .asReadOnly();

    private Heartbeat() {}

    /** Begins to send comments, until the exchange ends; on the event loop. */
    static void begin(Exchange exchange, Duration interval) {
        if (interval.isZero() || exchange.over()) {
            return;
        }
        long nanos = interval.toNanos();
        Future<?> timer = exchange.loop()
                .scheduleAtFixedRate(() -> exchange.write(COMMENT.duplicate()), nanos, nanos, TimeUnit.NANOSECONDS);
        exchange.atEnd(() -> timer.cancel(false));
    }
}
