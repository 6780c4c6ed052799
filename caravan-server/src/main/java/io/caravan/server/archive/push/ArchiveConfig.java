package io.caravan.server.archive.push;

import io.caravan.server.archive.Lease;
import io.caravan.server.archive.PrunePolicy;
import io.caravan.server.archive.object.ObjectStore;
import java.time.Duration;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * How a server archives.
 *
 * @param location where the archive lies, for people
 * @param place opens where the archive lies; may be called again after it has thrown
 * @param atHand whether the place answers at once, as a folder does: then the server finds out before it serves whether
 *     the archive is this store's
 * @param adopts whether an empty store becomes the one whose archive is there, if there is one, and fetches its
 *     documents from there
 * @param takeover whether to take the archive over also from another copy of this store, and to begin it anew where it
 *     was lost
 * @param after greatest age of a change that is not archived, where the document's space has no other
 * @param concurrency documents that are archived at a time
 * @param bytesPerSecond that are written to the archive, 0 for no bound
 * @param onStop whether what has changed is archived before the server stops
 * @param pruning what is removed from the archive by itself, or null for nothing
 * @param leaseClock measures how long this server may write to the archive without looking at its root
 */
public record ArchiveConfig(
        String location,
        Supplier<ObjectStore> place,
        boolean atHand,
        boolean adopts,
        boolean takeover,
        Duration after,
        int concurrency,
        long bytesPerSecond,
        boolean onStop,
        @Nullable Pruning pruning,
        Lease.Clock leaseClock) {

    /**
     * What a server removes from its archive.
     *
     * @param policy what stays, where the document's space does not say otherwise
     * @param every time between two rounds
     */
    public record Pruning(PrunePolicy policy, Duration every) {}
}
