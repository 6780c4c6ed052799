package io.caravan.server.document;

import io.caravan.CaravanException;
import io.caravan.OutOfSpaceException;
import io.caravan.StoreFailedException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * What keeps the store from taking writes, as far as the writes that it refused have told: that it has failed, which stays
 * so, or that it is out of space, until it takes a write, or has refused none for a while: whoever sends no more because of
 * it would otherwise never learn that there is space again. Threads share it.
 */
final class StoreTrouble {
    private static final long OUT_OF_SPACE_NANOS = TimeUnit.SECONDS.toNanos(10);

    private volatile @Nullable CaravanException failed;
    private volatile @Nullable CaravanException outOfSpace;
    private volatile long outOfSpaceNanos;

    /** A write was taken, and is durable. */
    void wrote() {
        // Reading costs less than writing, for all threads that do.
        if (outOfSpace != null) {
            outOfSpace = null;
        }
    }

    /** A write was refused, for whatever reason. */
    void refused(CaravanException problem) {
        if (problem instanceof OutOfSpaceException) {
            outOfSpaceNanos = System.nanoTime();
            outOfSpace = problem;
        } else if (problem instanceof StoreFailedException) {
            failed = problem;
        }
    }

    /** The {@link StoreFailedException} or {@link OutOfSpaceException}, or null when there is none. */
    @Nullable
    CaravanException current() {
        CaravanException lasting = failed;
        boolean old = System.nanoTime() - outOfSpaceNanos > OUT_OF_SPACE_NANOS;
        return lasting != null ? lasting : old ? null : outOfSpace;
    }
}
