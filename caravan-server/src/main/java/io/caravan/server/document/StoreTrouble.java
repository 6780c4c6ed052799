package io.caravan.server.document;

import io.caravan.CaravanException;
import io.caravan.OutOfSpaceException;
import io.caravan.StoreFailedException;
import org.jspecify.annotations.Nullable;

/**
 * What keeps the store from taking writes, as far as the writes that it refused have told: that it has failed, which stays
 * so, or that it is out of space, until it takes a write. Threads share it.
 */
final class StoreTrouble {
    private volatile @Nullable CaravanException failed;
    private volatile @Nullable CaravanException outOfSpace;

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
            outOfSpace = problem;
        } else if (problem instanceof StoreFailedException) {
            failed = problem;
        }
    }

    /** The {@link StoreFailedException} or {@link OutOfSpaceException}, or null when there is none. */
    @Nullable
    CaravanException current() {
        CaravanException lasting = failed;
        return lasting != null ? lasting : outOfSpace;
    }
}
