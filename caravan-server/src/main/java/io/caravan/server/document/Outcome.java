package io.caravan.server.document;

import io.caravan.CaravanException;

/**
 * Is told exactly once what became of a change: on a store thread, or, when the store refused it, on the thread that asked.
 * It must be quick, must not block, and must not read from the store.
 *
 * @param <T> what there is to tell
 */
public interface Outcome<T> {

    /** The change is durable. */
    void success(T result);

    /**
     * The change was refused, and nothing has changed; or the store failed before it was durable.
     *
     * @param problem a {@link CaravanException}, or what the change itself has thrown when it was decided on later
     */
    void failure(RuntimeException problem);
}
