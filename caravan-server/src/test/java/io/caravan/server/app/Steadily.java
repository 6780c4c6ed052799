package io.caravan.server.app;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Watches what must not change. */
public final class Steadily {
    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

    private Steadily() {}

    /** Looks again and again for a time, and fails as soon as it does not hold. */
    public static void holds(String what, long millis, BooleanSupplier condition) {
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
        while (System.nanoTime() < end) {
            assertThat(condition.getAsBoolean()).as(what).isTrue();
            LockSupport.parkNanos(LOOK_NANOS);
        }
    }
}
