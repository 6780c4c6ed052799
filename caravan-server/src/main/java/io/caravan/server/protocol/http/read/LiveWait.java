package io.caravan.server.protocol.http.read;

import io.caravan.catalog.DocumentName;
import io.caravan.server.document.DocumentService;
import io.caravan.server.document.Tail;
import io.caravan.server.protocol.http.connection.Exchange;
import io.netty.util.concurrent.Future;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Looks at a document, on a reading thread, whenever it has changed; in between it is a timer and an entry among those who
 * wait for the document. One look at a time. The event loop's alone.
 */
final class LiveWait {
    private final Exchange exchange;
    private final ReadParts parts;
    private final DocumentService documents;
    private final DocumentName name;
    private final Look look;
    private @Nullable Tail tail;
    private boolean changed = true;
    private boolean looking;
    private boolean ended;

    /** What is done at each change. */
    interface Look {
        /**
         * Looks at the document, on a reading thread. The next look comes after {@link #rest} or {@link #again}.
         *
         * @param last whether the time is over, and there shall be an answer whatever there is
         */
        void look(boolean last);
    }

    LiveWait(Exchange exchange, ReadParts parts, DocumentService documents, DocumentName name, Look look) {
        this.exchange = exchange;
        this.parts = parts;
        this.documents = documents;
        this.name = name;
        this.look = look;
    }

    /** Looks for the first time; for the last time after {@code limit}, or when the server stops. */
    void start(Duration limit) {
        Future<?> timer = exchange.loop().schedule(this::expire, limit.toNanos(), TimeUnit.NANOSECONDS);
        exchange.onDrain(this::expire);
        exchange.atEnd(() -> {
            timer.cancel(false);
            if (tail != null) {
                tail.close();
            }
        });
        lookIfChanged();
    }

    private void expire() {
        ended = true;
        changed = true;
        lookIfChanged();
    }

    private void lookIfChanged() {
        if (exchange.over() || looking || !changed) {
            return;
        }
        changed = false;
        looking = true;
        if (tail == null) {
            // Before the look, so that no change is missed.
            tail = documents.onChange(name, () -> exchange.loop().execute(this::told));
        }
        boolean last = ended;
        parts.read(exchange, () -> look.look(last));
    }

    private void told() {
        tail = null;
        changed = true;
        lookIfChanged();
    }

    /** The look is done: the next one is at the next change. */
    void rest() {
        looking = false;
        lookIfChanged();
    }

    /** The look is done, and there is more to see. */
    void again() {
        changed = true;
        rest();
    }
}
