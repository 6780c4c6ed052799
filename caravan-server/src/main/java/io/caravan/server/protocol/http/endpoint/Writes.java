package io.caravan.server.protocol.http.endpoint;

import io.caravan.server.document.DocumentService;
import io.caravan.server.document.Outcome;
import io.caravan.server.protocol.http.codec.Answer;
import io.caravan.server.protocol.http.connection.Exchange;
import io.caravan.server.protocol.http.connection.Gate;
import io.caravan.server.protocol.http.connection.Readiness;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Function;

/** Runs changes of documents as soon as the store has room, on the event loop or on a thread that may wait. */
public final class Writes {
    private final Readiness readiness;
    private final Executor readers;

    public Writes(Readiness readiness, Executor readers) {
        this.readiness = readiness;
        this.readers = readers;
    }

    /**
     * Runs a change on the event loop, where it must not wait. While the store has no room, nothing more is read from
     * the client. Changes of one turn of the loop share a force.
     */
    public void run(Exchange exchange, Consumer<DocumentService> change) {
        DocumentService documents = readiness.documents();
        if (documents.writable()) {
            documents.willWrite(exchange.loop());
            apply(exchange, change, documents);
        } else {
            whenWritable(documents, exchange, () -> run(exchange, change));
        }
    }

    /** Asks again whether the client is known: its token may have been withdrawn since the request began. */
    private static void apply(Exchange exchange, Consumer<DocumentService> change, DocumentService documents) {
        Gate.checkStillKnown(exchange.principal());
        change.accept(documents);
    }

    private static void whenWritable(DocumentService documents, Exchange exchange, Runnable again) {
        documents.onWritable(() -> exchange.loop().execute(() -> {
            if (!exchange.over()) {
                exchange.run(again);
            }
        }));
    }

    /**
     * Runs a change that takes long, or reads, on a thread that may wait. It does not wait there for room in the store,
     * because it would hold the document's lock, and changes on the event loop would wait for that.
     */
    public void runApart(Exchange exchange, Consumer<DocumentService> change) {
        DocumentService documents = readiness.documents();
        readers.execute(() -> exchange.run(() -> {
            if (documents.writable()) {
                apply(exchange, change, documents);
            } else {
                whenWritable(documents, exchange, () -> runApart(exchange, change));
            }
        }));
    }

    /** Answers a change when it is durable. */
    <T> Outcome<T> answering(Exchange exchange, Function<T, Answer> answer) {
        return new Outcome<>() {
            @Override
            public void success(T result) {
                // Not on the store's thread, which has others to notify.
                exchange.loop().execute(() -> exchange.run(() -> exchange.answer(answer.apply(result))));
            }

            @Override
            public void failure(RuntimeException problem) {
                exchange.fail(problem);
            }
        };
    }
}
