package io.caravan.server.protocol.http.endpoint;

import io.caravan.server.protocol.http.connection.HttpExchange;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.util.concurrent.Future;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * Sends comments in an event stream at regular intervals, because most proxies close a response that is idle for a
 * minute. Clients ignore the comments. Other writes consist of complete events, so a comment never splits an event.
 */
final class Heartbeat {
    private static final ByteBuf COMMENT = Unpooled.unreleasableBuffer(
                    Unpooled.copiedBuffer(":\n\n", StandardCharsets.US_ASCII))
            .asReadOnly();

    private Heartbeat() {}

    /** Starts to send comments until the exchange ends. Called on the event loop. */
    static void begin(HttpExchange exchange, Duration interval) {
        if (interval.isZero() || exchange.over()) {
            return;
        }
        long nanos = interval.toNanos();
        Future<?> timer = exchange.loop()
                .scheduleAtFixedRate(() -> exchange.write(COMMENT.duplicate()), nanos, nanos, TimeUnit.NANOSECONDS);
        exchange.atEnd(() -> timer.cancel(false));
    }
}
