package io.caravan.testing.simulator;

/** A violation of a guarantee of the store. */
public final class SimulationFailure extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public SimulationFailure(String message) {
        super(message);
    }

    public SimulationFailure(String message, Throwable cause) {
        super(message + ": " + cause, cause);
    }
}
