package io.caravan.server.document;

import io.caravan.CaravanException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Consumer;

/**
 * Receives the result of a write, exactly once unless the write is {@linkplain #untilAbandoned abandoned}; called on a
 * store thread or, if the store rejected the write, on the thread that requested it. An outcome must be quick, must not
 * block, and must not read from the store.
 *
 * @param <T> the type of the result
 */
public interface Outcome<T> {

    /** Called when the write is durable. */
    void success(T result);

    /**
     * Called when the write was rejected and has changed nothing, or the store failed before the write was durable.
     *
     * @param problem a {@link CaravanException}; an exception that the write itself threw, if the write had to wait; or
     *     the exception of a read barrier, if the result may be stale
     */
    void failure(RuntimeException problem);

    /**
     * Wraps the remaining work of a write that waits, for example for a document from the archive. The wrapper runs
     * this work at most once. If the client of the outcome disconnects, the wrapper drops the work, so that the wait
     * does not retain the memory of the write.
     */
    default Runnable untilAbandoned(Runnable rest) {
        return rest;
    }

    /**
     * Performs a write, waits until it completes, and returns its result.
     *
     * @param change starts the write with this outcome
     * @throws RuntimeException if the write fails; usually a {@link CaravanException}
     */
    static <T> T await(Consumer<Outcome<T>> change) {
        CompletableFuture<T> outcome = new CompletableFuture<>();
        change.accept(of(outcome::complete, outcome::completeExceptionally));
        try {
            return outcome.join();
        } catch (CompletionException failed) {
            if (failed.getCause() instanceof RuntimeException problem) {
                throw problem;
            }
            throw failed;
        }
    }

    /** Creates an outcome that passes the result to one of these actions, or the problem to the other. */
    static <T> Outcome<T> of(Consumer<T> success, Consumer<RuntimeException> failure) {
        return new Outcome<>() {
            @Override
            public void success(T result) {
                success.accept(result);
            }

            @Override
            public void failure(RuntimeException problem) {
                failure.accept(problem);
            }
        };
    }
}
