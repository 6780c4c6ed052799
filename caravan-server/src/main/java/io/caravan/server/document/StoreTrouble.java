package io.caravan.server.document;

import io.caravan.CaravanException;
import io.caravan.OutOfSpaceException;
import io.caravan.StoreFailedException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Why the store refuses writes, by the exceptions of those it refused: it has failed, which is final, or it is out of
 * space. The latter ends with the next successful write, and also when none was refused for a while: clients that
 * stopped writing because of it would otherwise never learn that there is space again. Thread-safe.
 */
final class StoreTrouble {
    private static final long OUT_OF_SPACE_NANOS = TimeUnit.SECONDS.toNanos(10);

    private volatile @Nullable CaravanException failed;
    private volatile @Nullable CaravanException outOfSpace;
    private volatile long outOfSpaceNanos;

    /** Records that a write is durable. */
    void wrote() {
        // Reading a field that threads share costs less than writing it.
        if (outOfSpace != null) {
            outOfSpace = null;
        }
    }

    /** Records that a write was refused, for any reason. */
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
