package io.caravan.testing.simulator;

/** A store did what it must not. */
public final class SimulationFailure extends RuntimeException {
    private static final long serialVersionUID = 1L;

    SimulationFailure(String message) {
        super(message);
    }

    SimulationFailure(String message, Throwable cause) {
        super(message + ": " + cause, cause);
    }
}
