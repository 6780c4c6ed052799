package io.caravan.server.document;

import io.caravan.CaravanException;

/**
 * Receives the result of a change, exactly once: on a store thread, or, when the store refused it, on the thread that
 * made it. It must be quick, must not block, and must not read from the store.
 *
 * @param <T> the type of the result
 */
public interface Outcome<T> {

    /** The change is durable. */
    void success(T result);

    /**
     * The change was refused, and nothing has changed; or the store failed before it was durable.
     *
     * @param problem a {@link CaravanException}; what the change itself threw when it had to wait; or that it may tell what is
     *     old
     */
    void failure(RuntimeException problem);
}
