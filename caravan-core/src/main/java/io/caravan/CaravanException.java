package io.caravan;

import org.jspecify.annotations.Nullable;

/** What went wrong in a store. Each subclass is one kind of problem; the message says where and what to do. */
public abstract class CaravanException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    protected CaravanException(String message) {
        super(message);
    }

    protected CaravanException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
