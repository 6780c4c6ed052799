package io.caravan.bench.gate;

import io.caravan.CaravanException;
import io.caravan.WriteCallback;

/** One callback for all appends of a probe: nothing is made for each. What fails is thrown, logged, and found by the next flush. */
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
