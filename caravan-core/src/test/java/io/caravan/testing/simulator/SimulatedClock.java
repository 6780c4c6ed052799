package io.caravan.testing.simulator;

import java.util.function.LongSupplier;

/** A clock that advances slightly whenever it is read, and otherwise only on request. */
public final class SimulatedClock implements LongSupplier {
    private static final long LOOK_NANOS = 500;

    private long nanos;

    @Override
    public long getAsLong() {
        nanos += LOOK_NANOS;
        return nanos;
    }

    long nanos() {
        return nanos;
    }

    void advanceTo(long instant) {
        nanos = Math.max(nanos, instant);
    }
}
