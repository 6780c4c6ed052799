package io.caravan;

import org.jspecify.annotations.Nullable;

/**
 * The superclass of all exceptions that Caravan defines. Each subclass represents one kind of problem. The message
 * states where the problem occurred and how to proceed.
 */
public abstract class CaravanException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    protected CaravanException(String message) {
        super(message);
    }

    protected CaravanException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
