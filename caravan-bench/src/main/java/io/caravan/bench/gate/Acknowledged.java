package io.caravan.bench.gate;

import io.caravan.CaravanException;
import io.caravan.WriteCallback;

/**
 * One callback for all appends of a probe, so that nothing is allocated for each. Failures are thrown and logged, and
 * the next flush reports them.
 */
final class Acknowledged implements WriteCallback {
    static final Acknowledged SHARED = new Acknowledged();

    private Acknowledged() {}

    @Override
    public void success(long sequence) {}

    @Override
    public void failure(CaravanException problem) {
        throw problem;
    }
}
