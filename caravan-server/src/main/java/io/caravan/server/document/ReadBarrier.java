package io.caravan.server.document;

import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * A condition that reads pass before they access documents, so that they reflect every write acknowledged before their
 * request. A standalone store always satisfies it; a cluster node may have been replaced as the leader without knowing
 * it. Thread-safe.
 */
@FunctionalInterface
public interface ReadBarrier {
    /** A barrier that does not wait. */
    ReadBarrier NONE = (read, rejected) -> read.run();

    /**
     * Runs one of the two arguments, once: immediately, or later on a thread that must not be blocked.
     *
     * @param read starts the read
     * @param rejected receives the reason why a read might be stale
     */
    void pass(Runnable read, Consumer<UnconfirmedReadException> rejected);

    /**
     * Creates a barrier that waits for a confirmation.
     *
     * @param confirmation begins a confirmation, whose failure is the reason for a rejection
     */
    static ReadBarrier of(Supplier<? extends CompletionStage<?>> confirmation) {
        return (read, rejected) -> {
            CompletionStage<?> confirmed;
            try {
                confirmed = confirmation.get();
            } catch (RuntimeException stopping) {
                rejected.accept(new UnconfirmedReadException(stopping));
                return;
            }
            confirmed.whenComplete((done, problem) -> {
                if (problem == null) {
                    read.run();
                } else {
                    rejected.accept(new UnconfirmedReadException(
                            problem instanceof CompletionException && problem.getCause() != null
                                    ? problem.getCause()
                                    : problem));
                }
            });
        };
    }

    /** Reports that a read was rejected because its result might have been stale. */
    final class UnconfirmedReadException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        UnconfirmedReadException(Throwable cause) {
            super(cause.getMessage(), cause);
        }
    }
}
