package io.caravan.server.archive.format;

import io.caravan.catalog.DocumentName;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * What an archive holds of one document name. What no manifest names was never archived, whatever objects there are.
 *
 * @param store identity of the store that the archive belongs to
 * @param name the document
 * @param epoch number of the owner that wrote the manifest last
 * @param lastGeneration the highest number that a generation of the name has had, also one that is pruned
 * @param generations the snapshots that are kept, by rising number
 * @param tombstone says that the document was deleted after the last of the generations; null when it was not
 */
public record Manifest(
        UUID store,
        DocumentName name,
        long epoch,
        long lastGeneration,
        List<Generation> generations,
        @Nullable Tombstone tombstone) {

    public Manifest {
        generations = List.copyOf(generations);
    }

    /** The newest snapshot, or null when none is kept. */
    public @Nullable Generation latest() {
        return generations.isEmpty() ? null : generations.get(generations.size() - 1);
    }

    /**
     * Says that a document was deleted.
     *
     * @param incarnation which document it was
     * @param nextSequence the sequence that its next value would have got
     * @param deletedAtMillis when, by the server's clock, in milliseconds since 1970
     */
    public record Tombstone(long incarnation, long nextSequence, long deletedAtMillis) {}
}
