package io.caravan.server.cli.migration;

import io.caravan.server.cli.client.DocumentClient;
import io.caravan.server.cli.client.DocumentClient.Description;
import io.caravan.server.document.DocumentImport.Replaced;
import java.util.ArrayList;
import java.util.List;

/**
 * Sends a document whose number of values is not known in advance. A short document is sent in one write, a longer one
 * in chunks, which become visible at the end. Not thread-safe.
 */
final class Parts {
    /** The assumed overhead of a value, in bytes. */
    private static final int OVERHEAD_BYTES = 64;

    private final DocumentClient carrier;
    private final byte[] name;
    private final Description document;
    private final Replaced replaced;
    private final RateLimitRetries patience;
    private List<byte[]> values = new ArrayList<>();
    private long bytes;
    private long next;
    /** The document's id at the server once a chunk was sent, otherwise -1. */
    private long id = -1;

    /**
     * Prepares a document; sends nothing yet.
     *
     * @param document the first sequence and the attributes
     * @param replaced the kind of existing document that the new one may replace
     */
    Parts(DocumentClient carrier, byte[] name, Description document, Replaced replaced, RateLimitRetries patience) {
        this.carrier = carrier;
        this.name = name;
        this.document = document;
        this.replaced = replaced;
        this.patience = patience;
        this.next = document.first();
    }

    void add(byte[] value) {
        if (bytes + value.length > Importer.PART_BYTES && !values.isEmpty()) {
            send();
        }
        values.add(value);
        bytes += value.length + OVERHEAD_BYTES;
    }

    private void send() {
        if (id < 0) {
            id = patience.take(() -> carrier.begin(name, document, replaced));
        }
        patience.take(() -> carrier.add(name, id, next, values));
        next += values.size();
        values = new ArrayList<>();
        bytes = 0;
    }

    /** Waits until the document is durable and visible. */
    void end() {
        if (id < 0) {
            patience.take(() -> {
                carrier.askToTake(name, document, values, replaced);
                carrier.taken();
            });
        } else {
            send();
            patience.take(() -> carrier.end(name, id, next));
        }
    }

    /** Discards the chunks that were sent, after a failure. */
    void abandon() {
        if (id >= 0) {
            carrier.abort(name, id);
        }
    }
}
