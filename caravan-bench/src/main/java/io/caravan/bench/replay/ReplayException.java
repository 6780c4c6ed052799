package io.caravan.bench.replay;

/** The target lost what it had acknowledged, or failed. */
final class ReplayException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    ReplayException(String message) {
        super(message);
    }
}
