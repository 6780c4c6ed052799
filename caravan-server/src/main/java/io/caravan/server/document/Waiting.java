package io.caravan.server.document;

import io.caravan.CaravanException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Consumer;

/** Waits for what becomes of a change; for threads that may. */
public final class Waiting {

    private Waiting() {}

    /**
     * Asks for a change and returns what its outcome was told.
     *
     * @param change hands the outcome to whoever tells it
     * @throws RuntimeException what the outcome was told of failure, mostly a {@link CaravanException}
     */
    public static <T> T to(Consumer<Outcome<T>> change) {
        CompletableFuture<T> told = new CompletableFuture<>();
        change.accept(new Outcome<T>() {
            @Override
            public void success(T result) {
                told.complete(result);
            }

            @Override
            public void failure(RuntimeException problem) {
                told.completeExceptionally(problem);
            }
        });
        try {
            return told.join();
        } catch (CompletionException failed) {
            if (failed.getCause() instanceof RuntimeException problem) {
                throw problem;
            }
            throw failed;
        }
    }
}
