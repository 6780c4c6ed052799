package io.caravan.bench.policies;

import io.caravan.FlushPolicy;
import java.time.Duration;
import java.util.List;

/** The compared flush policies. */
record NamedPolicy(String name, FlushPolicy policy) {
    private static final int MICROS_PER_MILLI = 1000;
    private static final int NANOS_PER_MICRO = 1000;

    static final List<NamedPolicy> ALL = List.of(
            new NamedPolicy("immediate", FlushPolicy.immediate()),
            new NamedPolicy("adaptive", FlushPolicy.adaptive()),
            fixed(50),
            fixed(200),
            fixed(MICROS_PER_MILLI),
            fixed(5 * MICROS_PER_MILLI));

    private static NamedPolicy fixed(int micros) {
        String text = micros < MICROS_PER_MILLI ? micros + " us" : micros / MICROS_PER_MILLI + " ms";
        Duration delay = Duration.ofNanos((long) micros * NANOS_PER_MICRO);
        return new NamedPolicy("fixed delay of " + text, FlushPolicy.fixedDelay(delay));
    }
}
