package io.caravan.testing.simulator;

/** A store did what it must not. */
public final class SimulationFailure extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public SimulationFailure(String message) {
        super(message);
    }

    public SimulationFailure(String message, Throwable cause) {
        super(message + ": " + cause, cause);
    }
}
