package io.caravan.server.archive;

import io.caravan.server.archive.Archive.ClaimMemory;
import io.caravan.server.archive.format.ArchiveException;
import io.caravan.server.archive.format.ArchiveException.Reason;
import io.caravan.server.archive.format.ArchiveKeys;
import io.caravan.server.archive.format.ArchiveRoot;
import io.caravan.server.archive.object.ObjectStore;
import io.caravan.server.archive.object.ObjectStore.Stored;
import io.caravan.server.archive.object.ObjectStoreException;
import java.security.SecureRandom;
import java.time.InstantSource;
import java.util.HexFormat;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Reads and replaces an archive's root. A random number after the owner's name makes each root unique. A server that
 * reads the root after an error can therefore determine whether its own put took place.
 */
final class Roots {
    /** Maximum number of attempts to claim an archive. Each conflict means that another server has just claimed it. */
    private static final int CLAIMS = 16;

    private final ObjectStore objects;
    private final SecureRandom random = new SecureRandom();

    Roots(ObjectStore objects) {
        this.objects = objects;
    }

    /**
     * Returns the current root.
     *
     * @throws ArchiveException {@code NOT_FOUND} when there is no archive; {@code CORRUPT} when it has lost its root
     */
    ArchiveRoot read() {
        Stored stored = stored();
        if (stored == null) {
            checkNoManifests();
            throw new ArchiveException(
                    Reason.NOT_FOUND,
                    "there is no archive at " + objects.location() + ": it has no object " + ArchiveKeys.ROOT
                            + "; check the bucket and the prefix, or the directory");
        }
        return decode(stored);
    }

    /** Checks that the store's archive exists, under any owner; throws as {@link #read}, or {@code FOREIGN}. */
    void requireExists(UUID store) {
        checkStore(read(), store);
    }

    /** Creates the archive if there is none, or takes it over, as {@link Archive#claim} describes. */
    ArchiveRoot claim(UUID store, String owner, InstantSource clock, ClaimMemory memory) {
        for (int left = CLAIMS; ; left--) {
            Stored stored = stored();
            ArchiveRoot before = stored == null ? null : decode(stored);
            if (before == null) {
                checkNoManifests();
            } else {
                checkStore(before, store);
            }
            String previous = before == null ? "" : before.owner();
            if (!memory.expects(previous)) {
                throw unexpected(before);
            }
            long epoch = before == null ? 1 : Math.addExact(before.epoch(), 1);
            String nonce = HexFormat.of().toHexDigits(random.nextLong());
            ArchiveRoot claimed = new ArchiveRoot(store, epoch, owner + " #" + nonce, clock.millis());
            memory.claiming(previous, claimed.owner());
            try {
                objects.putSurely(
                        ArchiveKeys.ROOT,
                        claimed.encode(),
                        stored == null ? null : stored.tag(),
                        ArchiveRoot.MAX_BYTES,
                        now -> decode(now).equals(claimed));
                return claimed;
            } catch (ObjectStoreException problem) {
                if (problem.kind() != ObjectStoreException.Kind.CONFLICT || left == 1) {
                    throw problem;
                }
            }
        }
    }

    private @Nullable Stored stored() {
        return objects.get(ArchiveKeys.ROOT, ArchiveRoot.MAX_BYTES);
    }

    private ArchiveRoot decode(Stored stored) {
        return ArchiveRoot.decode(stored.content(), objects.location() + "/" + ArchiveKeys.ROOT);
    }

    private ArchiveException unexpected(@Nullable ArchiveRoot before) {
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
    private void checkNoManifests() {
        objects.list(ArchiveKeys.MANIFESTS, listed -> {
            throw new ArchiveException(
                    Reason.CORRUPT,
                    "the archive at " + objects.location() + " has manifests but no object " + ArchiveKeys.ROOT
                            + ", which identifies its store: restore this object from a backup or from an earlier"
                            + " version in the bucket, or use another prefix or directory for a new archive");
        });
    }

    private void checkStore(ArchiveRoot root, UUID store) {
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

    /** Checks that the server that claimed the archive still owns it; throws {@code FENCED} or {@code FOREIGN}. */
    void check(ArchiveRoot mine) {
        ArchiveRoot root = read();
        checkStore(root, mine.store());
        if (!root.equals(mine)) {
            throw fenced(root.owner() + " has taken it over as its owner number " + root.epoch(), mine);
        }
    }

    /** Returns the exception for an owner that another owner has replaced. */
    ArchiveException fenced(String what, ArchiveRoot mine) {
        return new ArchiveException(
                Reason.FENCED,
                "the archive at " + objects.location() + " has another owner: " + what + ", and this server, "
                        + mine.owner()
                        + ", was number " + mine.epoch()
                        + "; this server has stopped archiving. Two servers must not archive the same store: stop one"
                        + " of them");
    }
}
