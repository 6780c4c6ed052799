package io.caravan;

import java.util.concurrent.CompletableFuture;

/**
 * Is called exactly once with what became of a write that the store accepted.
 *
 * <p>Called on a store thread, in the order in which writes were accepted. It must be quick, must not block, and must
 * not read, flush, checkpoint, back up or close the store, or wait for a future of a write, which would throw
 * {@link IllegalStateException}. A wait for what {@link CompletableFuture#allOf} makes of such futures is not noticed, and
 * never ends. What the callback throws is logged and changes nothing, an {@link Error} too.
 */
public interface WriteCallback {

    /**
     * The write is durable at the store's {@link Durability} level, or at the weaker one that it asked for.
     *
     * @param sequence what the method that took the callback says
     */
    void success(long sequence);

    /** The store failed before the write was durable. Whether a later open finds it is unknown. */
    void failure(CaravanException problem);

    /**
     * A callback that completes a future with the sequence or with the problem, on the thread that calls it: what
     * depends on the future is bound by what a callback may do. The futures that {@link ListStore} returns are not.
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
