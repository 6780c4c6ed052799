package io.caravan.server.archive.push;

import io.caravan.server.archive.Lease;
import io.caravan.server.archive.PrunePolicy;
import io.caravan.server.archive.object.ObjectStore;
import java.time.Duration;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The archive settings of a server.
 *
 * @param location the location, in human-readable form
 * @param place opens the object store; may be called again after it has thrown
 * @param atHand whether the object store responds at once, as a directory does; if so, the server checks before it
 *     serves clients whether the archive belongs to this store
 * @param adopts whether an empty store adopts the identity of the archive's store and fetches its documents, if the
 *     archive exists
 * @param takeover whether to take over the archive even from another copy of this store, and to create it again if it
 *     was lost
 * @param after maximum age of a change that is not archived, unless the document's space sets another
 * @param concurrency maximum number of documents that are archived at a time
 * @param bytesPerSecond limit on bytes written to the archive, 0 for none
 * @param onStop whether pending changes are archived before the server stops
 * @param pruning automatic pruning of the archive, or null for none
 * @param leaseClock measures how long this server may write to the archive without checking its root
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
     * The automatic pruning of a server's archive.
     *
     * @param policy the generations to keep, unless the document's space sets another policy
     * @param every time between two rounds
     */
    public record Pruning(PrunePolicy policy, Duration every) {}
}
