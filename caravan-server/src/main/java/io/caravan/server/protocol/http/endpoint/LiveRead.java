package io.caravan.server.protocol.http.endpoint;

import io.caravan.server.document.Tail;
import io.caravan.server.protocol.http.connection.Exchange;
import io.netty.util.concurrent.Future;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A read that continues as values arrive. It checks the document on a reading thread whenever the document has changed;
 * between checks, it is only a timer and an entry in the list of waiting readers. One check runs at a time. Used only
 * on the event loop, except for {@link #look}.
 */
abstract class LiveRead {
    final ReadRequest request;
    final Exchange exchange;
    private @Nullable Tail tail;
    private boolean changed = true;
    private boolean looking;
    private boolean ended;

    LiveRead(ReadRequest request) {
        this.request = request;
        this.exchange = request.exchange();
    }

    /**
     * Checks the document, on a reading thread. The next check follows after {@link #rest} or {@link #again}.
     *
     * @param last whether the time is over, so that this check must finish the response
     */
    abstract void look(boolean last);

    /** Starts with a first check; the last one runs after {@code limit}, or when the server stops. */
    final void start(Duration limit) {
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
            // Before the check, so that no change is missed.
            tail = request.documents()
                    .onChange(request.name(), () -> exchange.loop().execute(this::documentChanged));
        }
        boolean last = ended;
        request.run(() -> look(last));
    }

    private void documentChanged() {
        tail = null;
        changed = true;
        lookIfChanged();
    }

    /** Ends a check; the next one follows the next change. */
    final void rest() {
        looking = false;
        lookIfChanged();
    }

    /** Ends a check; the next one follows immediately. */
    final void again() {
        changed = true;
        rest();
    }
}
