package io.caravan.server.http;

import io.caravan.CaravanException;
import io.caravan.server.document.DocumentService;
import io.caravan.server.document.Outcome;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Function;

/** Runs changes of documents: on the event loop as soon as the store has room, or on a thread that may wait. */
final class Writes {
    private final Readiness readiness;
    private final Executor readers;

    Writes(Readiness readiness, Executor readers) {
        this.readiness = readiness;
        this.readers = readers;
    }

    /**
     * Runs a change on the event loop, where it must not wait. While the store has no room, nothing more is read from the
     * client.
     */
    void run(Exchange exchange, Consumer<DocumentService> change) {
        DocumentService documents = readiness.documents();
        if (documents.writable()) {
            change.accept(documents);
        } else {
            documents.onWritable(() -> exchange.loop().execute(() -> runAgain(exchange, change)));
        }
    }

    private void runAgain(Exchange exchange, Consumer<DocumentService> change) {
        if (exchange.over()) {
            return;
        }
        try {
            run(exchange, change);
        } catch (RuntimeException problem) {
            exchange.fail(problem);
        }
    }

    /** Runs a change that takes long, or reads. */
    void runApart(Exchange exchange, Consumer<DocumentService> change) {
        DocumentService documents = readiness.documents();
        readers.execute(() -> {
            try {
                change.accept(documents);
            } catch (RuntimeException problem) {
                exchange.fail(problem);
            }
        });
    }

    /** Answers a change when it is durable. */
    <T> Outcome<T> answering(Exchange exchange, Function<T, Answer> answer) {
        return new Outcome<>() {
            @Override
            public void success(T result) {
                // Not on the store's thread, which has others to tell.
                exchange.loop().execute(() -> answer(result));
            }

            private void answer(T result) {
                try {
                    exchange.answer(answer.apply(result));
                } catch (RuntimeException problem) {
                    exchange.fail(problem);
                }
            }

            @Override
            public void failure(CaravanException problem) {
                exchange.fail(problem);
            }
        };
    }
}
