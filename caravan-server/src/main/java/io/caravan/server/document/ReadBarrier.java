package io.caravan.server.document;

import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * A condition that a read must satisfy before it accesses documents, so that it reflects every write acknowledged
 * before the request. A standalone store always satisfies it. A cluster node must check it, because another node may
 * have become the leader without this node's knowledge. Thread-safe.
 */
@FunctionalInterface
public interface ReadBarrier {
    /** A barrier that runs every read immediately. */
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
     * @param confirmation starts a confirmation; if it fails, the failure is the reason for the rejection
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
