package io.caravan.server.archive;

import io.caravan.server.archive.object.ObjectStoreException;
import io.caravan.server.archive.object.ObjectStoreException.Kind;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * The period during which an owner may write to its archive without reading the root again: it ends {@link #LENGTH}
 * after the owner's last check. After a takeover, the new owner writes nothing for {@link #TAKEOVER_DELAY}. By then,
 * its predecessor has read the new root, or will read it before its next write. Each server measures with its own
 * monotonic clock, so clocks need not be synchronized.
 *
 * <p>No condition of an object store spans two objects, so the check and the write are two requests. After a takeover,
 * two kinds of owner can still replace a manifest that their successor has not written yet:
 *
 * <ul>
 *   <li>a process that is paused between the two requests, or whose request takes longer than {@link #TAKEOVER_DELAY}
 *   allows
 *   <li>a machine that is suspended, and whose monotonic clock does not advance during the suspension
 * </ul>
 *
 * Even then, the condition on the manifest makes one of two conflicting writes fail. Thread-safe.
 */
public final class Lease {
    /**
     * The time for which a check of the root is valid. It is long compared with a request, and short compared with the
     * uploads that a fenced owner would waste.
     */
    public static final Duration LENGTH = Duration.ofSeconds(3);

    /** The time that a new owner waits, so that its predecessor's check expires and earlier requests end. */
    public static final Duration TAKEOVER_DELAY = Duration.ofSeconds(5);

    private final Clock clock;
    private final Runnable check;
    /** The time from which this owner may write. */
    private final long startNanos;

    private volatile long checkedNanos;

    /**
     * Creates a lease that begins with a claim.
     *
     * @param claimingNanos when the claim began, by this clock
     * @param hasPredecessor whether the archive had an owner before
     * @param check reads the root, and throws if another owner has claimed it
     */
    Lease(Clock clock, long claimingNanos, boolean hasPredecessor, Runnable check) {
        this.clock = clock;
        this.check = check;
        this.startNanos = clock.nanoTime() + (hasPredecessor ? TAKEOVER_DELAY.toNanos() : 0);
        this.checkedNanos = claimingNanos;
    }

    /** The monotonic clock of this machine. Tests override the methods. */
    public interface Clock {
        Clock SYSTEM = new Clock() {};

        default long nanoTime() {
            return System.nanoTime();
        }

        default void sleep(long nanos) throws InterruptedException {
            TimeUnit.NANOSECONDS.sleep(nanos);
        }
    }

    /**
     * Waits until the handover period is over, then checks the root unless the last check is still valid. Throws the
     * exception of the check.
     */
    void ensure() {
        try {
            for (long left = startNanos - clock.nanoTime(); left > 0; left = startNanos - clock.nanoTime()) {
                clock.sleep(left);
            }
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            throw new ObjectStoreException(
                    Kind.UNAVAILABLE, "interrupted while the archive was being handed over by its last owner", stopped);
        }
        if (!isValid()) {
            // One thread checks the root; threads that arrive in the meantime use its result.
            synchronized (this) {
                if (!isValid()) {
                    renew();
                }
            }
        }
    }

    private boolean isValid() {
        return clock.nanoTime() - checkedNanos <= LENGTH.toNanos();
    }

    /** Checks the root now. Throws the exception of the check. */
    synchronized void renew() {
        long began = clock.nanoTime();
        check.run();
        checkedNanos = began;
    }
}
