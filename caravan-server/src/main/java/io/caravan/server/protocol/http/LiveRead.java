package io.caravan.server.protocol.http;

import io.caravan.catalog.DocumentName;
import io.caravan.server.document.ChangeWait;
import io.caravan.server.document.DocumentService;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/** A read that waits for new values. */
abstract class LiveRead {
    /**
     * A comment that is sent between events, because most proxies close a response that is idle for a minute. Clients
     * ignore comments. Other writes consist of complete events, so a comment never splits an event.
     */
    private static final ByteBuf COMMENT = Unpooled.unreleasableBuffer(
                    Unpooled.copiedBuffer(":\n\n", StandardCharsets.US_ASCII))
            .asReadOnly();

    final HttpExchange exchange;
    final ChangeWait wait;

    /** Creates a read that has not started, with at most {@code most} documents in one check. */
    LiveRead(HttpExchange exchange, DocumentService documents, int most) {
        this.exchange = exchange;
        this.wait = new ChangeWait(exchange.loop(), most, documents::onChange, this::check, () -> {});
    }

    static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    /** Returns the head of the response with events. The head asks proxies not to buffer the events. */
    static Response events() {
        return new Response(200)
                .header("Content-Type", "text/event-stream")
                .header("Cache-Control", "no-cache")
                .header("X-Accel-Buffering", "no");
    }

    /** Starts a response with events, and sends comments between them until the exchange ends. */
    final void startEvents(Response head) {
        exchange.start(head);
        Duration heartbeat = exchange.protocol.config.heartbeat();
        if (heartbeat.isZero() || exchange.over) {
            return;
        }
        long nanos = heartbeat.toNanos();
        Runnable comment = () -> {
            if (exchange.writable()) {
                exchange.write(COMMENT.duplicate());
            }
        };
        Future<?> timer = exchange.loop().scheduleAtFixedRate(comment, nanos, nanos, TimeUnit.NANOSECONDS);
        exchange.atEnd(() -> timer.cancel(false));
    }

    /** Checks these documents for new values. The final check receives no documents, and must finish the response. */
    abstract void check(List<DocumentName> names);

    /** Starts the first check of these documents. The final check runs after {@code limit} or when the server stops. */
    final void start(Collection<DocumentName> names, Duration limit) {
        exchange.waitForValues(wait::expire);
        exchange.atEnd(wait::close);
        wait.begin(names, limit, wait::expire);
    }
}
