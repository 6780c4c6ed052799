package io.caravan;

import java.util.concurrent.CompletableFuture;

/**
 * Receives the outcome of an accepted write in exactly one call.
 *
 * <p>{@link ListStore} describes the thread and the order of these calls. A callback must be quick and must not block.
 * It must not read, flush, checkpoint, back up, or close the store, or wait for the future of a write; these calls throw
 * {@link IllegalStateException}. A wait for a {@link CompletableFuture#allOf} of such futures never ends.
 *
 * <p>Anything that the callback throws, including an {@link Error}, is logged and has no other effect.
 */
public interface WriteCallback {

    /**
     * Reports that the write is durable at the store's {@link Durability} level, or at the weaker level that the write
     * requested.
     *
     * @param sequence the sequence, as defined by the method to which the callback was passed
     */
    void success(long sequence);

    /**
     * Reports that the store failed before the write was durable. The write may or may not be present when the store is
     * opened again.
     */
    void failure(CaravanException problem);

    /**
     * Returns a callback that completes a future with the sequence or the failure, on the thread that calls it. Stages
     * that depend on this future must follow the rules for callbacks, unlike stages of the futures that {@link
     * ListStore} returns.
     */
    static WriteCallback completing(CompletableFuture<Long> future) {
        return new WriteCallback() {
            @Override
            public void success(long sequence) {
                future.complete(sequence);
            }

            @Override
            public void failure(CaravanException problem) {
                future.completeExceptionally(problem);
            }
        };
    }
}
