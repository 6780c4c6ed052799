package io.caravan.server.document;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * A check that a read must pass before it accesses documents, so that it reflects every write acknowledged before the
 * request. In a standalone store, every read passes. A cluster node must make the check, because another node may have
 * become the leader without this node's knowledge. Thread-safe.
 */
@FunctionalInterface
public interface ReadBarrier {
    /** A barrier that runs every read immediately. */
    ReadBarrier NONE = (read, rejected) -> read.run();

    /**
     * Performs the check, and calls one of the arguments once: immediately, or later on a thread that must not block.
     *
     * @param read starts the read
     * @param rejected receives the reason why a read might be stale
     */
    void pass(Runnable read, Consumer<UnconfirmedReadException> rejected);

    /**
     * Creates a barrier that waits for a confirmation.
     *
     * @param confirmation starts a confirmation; if it fails, the failure is the reason for the rejection
     */
    static ReadBarrier of(Supplier<? extends CompletionStage<?>> confirmation) {
        return (read, rejected) -> {
            CompletionStage<?> confirmed;
            try {
                confirmed = confirmation.get();
            } catch (RuntimeException stopping) {
                confirmed = CompletableFuture.failedFuture(stopping);
            }
            confirmed.whenComplete((done, problem) -> {
                if (problem == null) {
                    read.run();
                } else {
                    Throwable cause = problem instanceof CompletionException ? problem.getCause() : null;
                    rejected.accept(new UnconfirmedReadException(cause == null ? problem : cause));
                }
            });
        };
    }

    /** Thrown when a read is rejected because its result might be stale. */
    final class UnconfirmedReadException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        UnconfirmedReadException(Throwable cause) {
            super(cause.getMessage(), cause);
        }
    }
}
