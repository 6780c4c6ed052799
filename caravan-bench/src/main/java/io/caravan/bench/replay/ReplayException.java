package io.caravan.bench.replay;

/** The target did not keep what it had acknowledged, or does not work at all. */
final class ReplayException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    ReplayException(String message) {
        super(message);
    }
}
