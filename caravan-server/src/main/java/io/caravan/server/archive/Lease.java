package io.caravan.server.archive;

import io.caravan.server.archive.object.ObjectStoreException;
import io.caravan.server.archive.object.ObjectStoreException.Kind;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * How long an owner may write to its archive without reading the root again: only within {@link #LENGTH} of its last
 * look at it. An owner that has taken the archive over writes nothing for {@link #HAND_OVER}: by then its predecessor
 * has seen the new root, or sees it before it writes again. Each host measures with its own monotonic clock, so nothing
 * depends on two clocks telling the same time.
 *
 * <p>An object store has no condition that spans two objects, so the look and the write are two requests. A process
 * that is stopped between them, or whose request takes longer than {@link #HAND_OVER} allows, can still replace a
 * manifest that its successor has not written since; so can a host that was suspended while its monotonic clock stood
 * still. Then the condition on the manifest decides, as always: one of the two writes is refused.
 *
 * <p>For any thread.
 */
public final class Lease {
    /** How long a look at the root counts: long beside a request, short beside what a server would upload in vain. */
    public static final Duration LENGTH = Duration.ofSeconds(3);

    /**
     * How long a new owner waits for its predecessor's look to run out, and for a request that was sent just before.
     */
    public static final Duration HAND_OVER = Duration.ofSeconds(5);

    private final Clock clock;
    private final Runnable look;
    private final boolean succeeds;
    private final long claimedNanos;
    private volatile long lookedNanos;

    /**
     * A lease that begins with a claim.
     *
     * @param claimingNanos when the claim was begun, by this clock
     * @param succeeds whether the archive had an owner before
     * @param look reads the root, and throws when it is another owner's
     */
    Lease(Clock clock, long claimingNanos, boolean succeeds, Runnable look) {
        this.clock = clock;
        this.look = look;
        this.succeeds = succeeds;
        this.claimedNanos = clock.nanoTime();
        this.lookedNanos = claimingNanos;
    }

    /** Monotonic time of this host. */
    public interface Clock {
        /** The time since the machine was started. */
        Clock SYSTEM = new Clock() {
            @Override
            public long nanoTime() {
                return System.nanoTime();
            }

            @Override
            public void sleep(long nanos) throws InterruptedException {
                TimeUnit.NANOSECONDS.sleep(nanos);
            }
        };

        /** As {@link System#nanoTime}. */
        long nanoTime();

        /** Waits for this time, which is more than 0. */
        void sleep(long nanos) throws InterruptedException;
    }

    /**
     * Returns when the owner may write: waits until the archive has been handed over, and looks at the root unless the
     * last look still counts. Throws what the look throws.
     */
    void ensure() {
        try {
            for (long left = left(); left > 0; left = left()) {
                clock.sleep(left);
            }
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            throw new ObjectStoreException(
                    Kind.UNAVAILABLE, "interrupted while the archive was being handed over by its last owner", stopped);
        }
        if (!counts()) {
            // One thread looks; those that come meanwhile need not look again.
            synchronized (this) {
                if (!counts()) {
                    renew();
                }
            }
        }
    }

    private boolean counts() {
        return clock.nanoTime() - lookedNanos <= LENGTH.toNanos();
    }

    /** Looks at the root now. Throws what the look throws. */
    synchronized void renew() {
        long began = clock.nanoTime();
        look.run();
        lookedNanos = began;
    }

    private long left() {
        return succeeds ? claimedNanos + HAND_OVER.toNanos() - clock.nanoTime() : 0;
    }
}
