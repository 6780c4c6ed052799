package io.caravan.server.app;

import io.caravan.server.document.Outcome;

/** An outcome that is ignored because the test checks the effect of the write. */
public final class IgnoredOutcome<T> implements Outcome<T> {
    @Override
    public void success(T result) {}

    @Override
    public void failure(RuntimeException problem) {
        throw new AssertionError(problem);
    }
}
