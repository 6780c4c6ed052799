package io.caravan.server.app;

import io.caravan.server.document.Outcome;

/** Of a change whose effect a test looks at. */
public final class IgnoredOutcome<T> implements Outcome<T> {
    @Override
    public void success(T result) {}

    @Override
    public void failure(RuntimeException problem) {
        throw new AssertionError(problem);
    }
}
