package io.caravan.server.document;

import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * What a read passes before it looks at documents, so that it shows all that was acknowledged before it was asked for. A
 * store alone always does; a host of a cluster may have been replaced as the leader without knowing it. Thread-safe.
 */
@FunctionalInterface
public interface ReadBarrier {
    /** Nothing is waited for. */
    ReadBarrier NONE = (read, refused) -> read.run();

    /**
     * Runs one of the two, once: now, or later on a thread that must not be blocked.
     *
     * @param read may begin
     * @param refused is told why a read might show what is old
     */
    void pass(Runnable read, Consumer<UnconfirmedReadException> refused);

    /**
     * A barrier that waits for a confirmation.
     *
     * @param confirmation begins one; its failure is the reason for a refusal
     */
    static ReadBarrier of(Supplier<? extends CompletionStage<?>> confirmation) {
        return (read, refused) -> {
            CompletionStage<?> confirmed;
            try {
                confirmed = confirmation.get();
            } catch (RuntimeException stopping) {
                refused.accept(new UnconfirmedReadException(stopping));
                return;
            }
            confirmed.whenComplete((done, problem) -> {
                if (problem == null) {
                    read.run();
                } else {
                    refused.accept(new UnconfirmedReadException(
                            problem instanceof CompletionException && problem.getCause() != null
                                    ? problem.getCause()
                                    : problem));
                }
            });
        };
    }

    /** A read was refused, because it might have shown what is old. */
    final class UnconfirmedReadException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        UnconfirmedReadException(Throwable cause) {
            super(cause.getMessage(), cause);
        }
    }
}
