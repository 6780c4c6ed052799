package io.caravan.server.protocol.http.endpoint;

import io.caravan.catalog.DocumentName;
import io.caravan.server.document.ChangeWait;
import io.caravan.server.document.DocumentService;
import io.caravan.server.protocol.http.connection.HttpExchange;
import java.time.Duration;
import java.util.Collection;
import java.util.List;

/** A read that waits for new values. */
abstract class LiveRead {
    final HttpExchange exchange;
    final ChangeWait wait;

    /**
     * Creates a read that has not begun.
     *
     * @param most maximum number of documents in one check
     */
    LiveRead(HttpExchange exchange, DocumentService documents, int most) {
        this.exchange = exchange;
        this.wait = new ChangeWait(exchange.loop(), most, documents::onChange, this::check, () -> {});
    }

    /** Begins a check of these documents. The last check has no documents, and must finish the response. */
    abstract void check(List<DocumentName> names);

    /** Starts the first check. The last check runs after {@code limit}, or when the server stops. */
    final void start(Collection<DocumentName> names, Duration limit) {
        exchange.onDrain(wait::expire);
        exchange.atEnd(wait::close);
        wait.begin(names, limit, wait::expire);
    }
}
