package io.caravan.server.archive;

import io.caravan.server.archive.format.ArchiveException;
import io.caravan.server.archive.format.ArchiveException.Reason;
import io.caravan.server.archive.format.ArchiveKeys;
import io.caravan.server.archive.format.ArchiveRoot;
import io.caravan.server.archive.object.ObjectStore;
import io.caravan.server.archive.object.ObjectStore.Stored;
import io.caravan.server.archive.object.ObjectStoreException;
import io.caravan.server.archive.object.ObjectStoreException.Kind;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import java.util.HexFormat;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * An owner's claim to an archive, which it has put into the root of the archive. A random number after the owner's name
 * makes each root unique. A server that reads the root after an error can therefore determine whether its own put took
 * place.
 *
 * <p>The owner may write without reading the root again until {@link #LENGTH} after its last check. After a takeover,
 * the new owner writes nothing for {@link #TAKEOVER_DELAY}. By then, its predecessor has read the new root, or will read
 * it before its next write. Each server measures with its own monotonic clock, so clocks need not be synchronized.
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

    /** Maximum number of attempts to claim an archive. Each conflict means that another server has just claimed it. */
    private static final int CLAIMS = 16;

    private static final SecureRandom RANDOM = new SecureRandom();

    private final ObjectStore objects;
    private final ArchiveRoot root;
    private final Clock clock;
    /** The time from which this owner may write. */
    private final long startNanos;

    private volatile long checkedNanos;

    private Lease(ObjectStore objects, ArchiveRoot root, Clock clock, long claimingNanos) {
        this.objects = objects;
        this.root = root;
        this.clock = clock;
        this.startNanos = clock.nanoTime() + (root.epoch() > 1 ? TAKEOVER_DELAY.toNanos() : 0);
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
     * A store's record of its claims to an archive. It prevents a store from taking the archive back after another copy
     * of the store has claimed it.
     */
    @FunctionalInterface
    public interface ClaimMemory {
        /**
         * Records that the store is about to claim the archive; the outcome is not known yet. Durable on return. Owners
         * are named as in the root; an empty name stands for an archive that does not exist.
         *
         * @param before the current owner
         * @param owner the next owner
         * @return false, and nothing is recorded, if the store must not claim the archive, because another copy of the
         *     store has claimed it since this one did
         */
        boolean claiming(String before, String owner);
    }

    /**
     * Returns the current root.
     *
     * @throws ArchiveException {@code NOT_FOUND} when there is no archive; {@code CORRUPT} when it has lost its root
     */
    static ArchiveRoot read(ObjectStore objects) {
        Stored stored = stored(objects);
        if (stored == null) {
            checkNoManifests(objects);
            throw new ArchiveException(
                    Reason.NOT_FOUND,
                    "there is no archive at " + objects.location() + ": it has no object " + ArchiveKeys.ROOT
                            + "; check the bucket and the prefix, or the directory");
        }
        return decode(objects, stored);
    }

    /** Checks that the store's archive exists, under any owner; throws as {@link #read}, or {@code FOREIGN}. */
    static void requireExists(ObjectStore objects, UUID store) {
        checkStore(objects, read(objects), store);
    }

    /** Creates the archive if there is none, or takes it over, as {@link Archive#claim} describes. */
    static Lease claim(
            ObjectStore objects, UUID store, String owner, InstantSource clock, ClaimMemory memory, Clock leaseClock) {
        long claimingNanos = leaseClock.nanoTime();
        for (int left = CLAIMS; ; left--) {
            Stored stored = stored(objects);
            ArchiveRoot before = stored == null ? null : decode(objects, stored);
            if (before == null) {
                checkNoManifests(objects);
            } else {
                checkStore(objects, before, store);
            }
            long epoch = before == null ? 1 : Math.addExact(before.epoch(), 1);
            String nonce = HexFormat.of().toHexDigits(RANDOM.nextLong());
            ArchiveRoot claimed = new ArchiveRoot(store, epoch, owner + " #" + nonce, clock.millis());
            if (!memory.claiming(before == null ? "" : before.owner(), claimed.owner())) {
                throw unexpected(objects, before);
            }
            try {
                objects.putSurely(
                        ArchiveKeys.ROOT,
                        claimed.encode(),
                        stored == null ? null : stored.tag(),
                        ArchiveRoot.MAX_BYTES,
                        now -> decode(objects, now).equals(claimed));
                return new Lease(objects, claimed, leaseClock, claimingNanos);
            } catch (ObjectStoreException problem) {
                if (problem.kind() != ObjectStoreException.Kind.CONFLICT || left == 1) {
                    throw problem;
                }
            }
        }
    }

    /** Returns the root that was put. */
    ArchiveRoot root() {
        return root;
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

    /** Checks the root now; throws {@code FENCED} or {@code FOREIGN} if another owner has claimed the archive. */
    synchronized void renew() {
        long began = clock.nanoTime();
        ArchiveRoot now = read(objects);
        checkStore(objects, now, root.store());
        if (!now.equals(root)) {
            throw fenced(now.owner() + " has taken it over as its owner number " + now.epoch());
        }
        checkedNanos = began;
    }

    private static @Nullable Stored stored(ObjectStore objects) {
        return objects.get(ArchiveKeys.ROOT, ArchiveRoot.MAX_BYTES);
    }

    private static ArchiveRoot decode(ObjectStore objects, Stored stored) {
        return ArchiveRoot.decode(stored.content(), objects.location() + "/" + ArchiveKeys.ROOT);
    }

    private static ArchiveException unexpected(ObjectStore objects, @Nullable ArchiveRoot before) {
        if (before == null) {
            return new ArchiveException(
                    Reason.NOT_FOUND,
                    "the archive at " + objects.location()
                            + ", to which this store has archived, does not exist: mount the disk, or restore the"
                            + " archive from a backup; to begin a new archive, restart with --archive-takeover");
        }
        return new ArchiveException(
                Reason.FENCED,
                "the archive at " + objects.location() + " has another owner: " + before.owner()
                        + " has taken it over as its owner number " + before.epoch()
                        + " since this store last archived to it. If this store is an old copy, for example that of a"
                        + " lost node, retire it. Otherwise, stop the other server and restart this one with"
                        + " --archive-takeover");
    }

    /**
     * Rejects a location that contains manifests. A root is written first and never deleted, so either the root is lost
     * or the location is wrong.
     */
    private static void checkNoManifests(ObjectStore objects) {
        if (objects.list(ArchiveKeys.MANIFESTS).findFirst().isPresent()) {
            throw new ArchiveException(
                    Reason.CORRUPT,
                    "the archive at " + objects.location() + " has manifests but no object " + ArchiveKeys.ROOT
                            + ", which identifies its store: restore this object from a backup or from an earlier"
                            + " version in the bucket, or use another prefix or directory for a new archive");
        }
    }

    private static void checkStore(ObjectStore objects, ArchiveRoot root, UUID store) {
        if (!root.store().equals(store)) {
            throw new ArchiveException(
                    Reason.FOREIGN,
                    "the archive at " + objects.location() + " belongs to the store " + root.store()
                            + ", last served by "
                            + root.owner() + ", and this is the store " + store
                            + ": use another prefix or directory for this store. To continue from that archive, restore"
                            + " it to an empty directory, and serve that directory");
        }
    }

    /** Returns the exception for an owner that another owner has replaced. */
    ArchiveException fenced(String what) {
        return new ArchiveException(
                Reason.FENCED,
                "the archive at " + objects.location() + " has another owner: " + what + ", and this server, "
                        + root.owner()
                        + ", was number " + root.epoch()
                        + "; this server has stopped archiving. Two servers must not archive the same store: stop one"
                        + " of them");
    }
}
