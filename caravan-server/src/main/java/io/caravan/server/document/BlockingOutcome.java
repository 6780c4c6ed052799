package io.caravan.server.document;

import io.caravan.CaravanException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Consumer;

/** Blocks the calling thread until a write completes. */
public final class BlockingOutcome {

    private BlockingOutcome() {}

    /**
     * Performs a write, waits until it completes, and returns its result.
     *
     * @param change starts the write with this outcome
     * @throws RuntimeException if the write fails; usually a {@link CaravanException}
     */
    public static <T> T to(Consumer<Outcome<T>> change) {
        CompletableFuture<T> outcome = new CompletableFuture<>();
        change.accept(Outcome.of(outcome::complete, outcome::completeExceptionally));
        try {
            return outcome.join();
        } catch (CompletionException failed) {
            if (failed.getCause() instanceof RuntimeException problem) {
                throw problem;
            }
            throw failed;
        }
    }
}
