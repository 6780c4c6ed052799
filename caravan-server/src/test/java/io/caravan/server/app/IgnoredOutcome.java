package io.caravan.server.app;

import io.caravan.server.document.Outcome;

/** Ignores the result of a write whose effect the test checks by other means, and throws if the write fails. */
public final class IgnoredOutcome<T> implements Outcome<T> {
    @Override
    public void success(T result) {}

    @Override
    public void failure(RuntimeException problem) {
        throw new AssertionError(problem);
    }
}
