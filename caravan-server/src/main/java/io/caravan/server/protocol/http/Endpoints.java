package io.caravan.server.protocol.http;

import io.caravan.NotWritableException;
import io.caravan.catalog.DocumentName;
import io.caravan.server.document.DocumentService;
import io.caravan.server.document.Outcome;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * The context that the endpoints share. Runs work that may have to wait: a read waits for memory for its response, and
 * a write waits for space in the store.
 *
 * @param readers runs tasks that may block
 * @param shared whether shared caches may store the contents of documents
 * @param json parses the bodies of requests
 */
public record Endpoints(Readiness readiness, Executor readers, HttpConfig config, boolean shared, JsonBody json) {

    public Endpoints(Readiness readiness, Executor readers, HttpConfig config, boolean shared) {
        this(readiness, readers, config, shared, new JsonBody(config.maxBatchBytes()));
    }

    /** Wraps a read endpoint: each request must first pass the read barrier, and fails if the barrier rejects it. */
    public Route.Endpoint current(Route.Endpoint read) {
        return exchange -> readiness
                .documents()
                .readBarrier()
                .pass(
                        () -> exchange.onLoop(() -> {
                            if (!exchange.over()) {
                                exchange.run(() -> read.handle(exchange));
                            }
                        }),
                        exchange::fail);
    }

    /**
     * Runs part of a read on a reading thread, when memory for its response is available. An exception or a revoked
     * token ends the exchange.
     */
    public void read(HttpExchange exchange, Runnable part) {
        if (!exchange.memory().room()) {
            exchange.memory().whenRoom(exchange.untilEnd(() -> read(exchange, part)));
            return;
        }
        readers.execute(exchange.untilEnd(() -> exchange.run(() -> {
            if (!exchange.memory().room()) {
                // Other reads have used the memory in the meantime.
                read(exchange, part);
                return;
            }
            exchange.requireStillKnown();
            part.run();
        })));
    }

    /** Creates and sends the response to a read, as {@link #read} does. */
    public void respond(HttpExchange exchange, Supplier<Response> response) {
        read(exchange, () -> exchange.respond(response.get()));
    }

    /**
     * Runs a write to a document on the event loop, when the store has space. The client's next request waits until
     * then. The writes of one turn of the loop share an fsync.
     */
    public void write(HttpExchange exchange, DocumentName name, Consumer<DocumentService> change) {
        DocumentService documents = readiness.documents();
        Runnable grouped = () -> {
            documents.willWrite(exchange.loop(), List.of(name));
            change.accept(documents);
        };
        apply(documents, exchange, grouped, () -> write(exchange, name, change));
    }

    /**
     * Runs a write that takes a long time or must read values, on a reading thread, when the store has space. The write
     * must not wait for space on that thread, because it would hold the document's lock and thus delay writes on the
     * event loop.
     */
    public void writeApart(HttpExchange exchange, Consumer<DocumentService> change) {
        DocumentService documents = readiness.documents();
        Runnable again = () -> writeApart(exchange, change);
        readers.execute(exchange.untilEnd(
                () -> exchange.run(() -> apply(documents, exchange, () -> change.accept(documents), again))));
    }

    private static void apply(DocumentService documents, HttpExchange exchange, Runnable change, Runnable again) {
        boolean tried = false;
        if (documents.writable()) {
            // The token may have been revoked since the request began.
            exchange.requireStillKnown();
            try {
                change.run();
                return;
            } catch (NotWritableException tooLarge) {
                // The write needs more space than the store has now, or other writes have taken the space.
                tried = true;
            }
        }
        Runnable later = exchange.untilEnd(() -> exchange.run(again));
        documents.onWritable(exchange.loop(), tried, later);
    }

    static String moment(long millis) {
        return Instant.ofEpochMilli(millis).toString();
    }

    /** Returns an outcome that sends the response to a write when the write is durable. */
    static <T> Outcome<T> responding(HttpExchange exchange, Function<T, Response> response) {
        return new Outcome<>() {
            @Override
            public void success(T result) {
                // The store's thread must not send the response, because it has other callers to notify.
                exchange.loop().execute(() -> exchange.run(() -> exchange.respond(response.apply(result))));
            }

            @Override
            public void failure(RuntimeException problem) {
                exchange.fail(problem);
            }

            @Override
            public Runnable untilAbandoned(Runnable rest) {
                return exchange.untilEnd(rest);
            }
        };
    }
}
