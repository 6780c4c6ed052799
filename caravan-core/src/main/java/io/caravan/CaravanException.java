package io.caravan;

import org.jspecify.annotations.Nullable;

/** A problem in a store. Each subclass is one kind of problem; the message says where it occurred and what to do. */
public abstract class CaravanException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    protected CaravanException(String message) {
        super(message);
    }

    protected CaravanException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
