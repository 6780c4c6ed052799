package io.caravan.server.archive.format;

import io.caravan.catalog.DocumentName;
import io.caravan.server.archive.format.SealedJson.Hex;
import java.time.Instant;
import java.util.List;
import java.util.StringJoiner;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The generations of one document name in an archive. An object that no manifest names is not archived.
 *
 * @param store identity of the store that the archive belongs to
 * @param name the document
 * @param epoch number of the owner that wrote the manifest last
 * @param lastGeneration the highest number that a generation of the name has had, including pruned ones
 * @param generations the snapshots that are kept, in ascending order of numbers
 * @param tombstone records that the document was deleted after the last of the generations; null when it was not
 */
public record Manifest(
        UUID store,
        DocumentName name,
        long epoch,
        long lastGeneration,
        List<Generation> generations,
        @Nullable Tombstone tombstone) {

    /** Maximum number of generations that a message describes. The message only counts older generations. */
    private static final int DESCRIBED = 10;

    public Manifest {
        generations = List.copyOf(generations);
    }

    /** The newest snapshot, or null when none is kept. */
    public @Nullable Generation latest() {
        return generations.isEmpty() ? null : generations.get(generations.size() - 1);
    }

    /** Returns a human-readable description of the generations, newest first. */
    public String describeGenerations() {
        int all = generations.size();
        if (all == 0) {
            return "the archive no longer has any of its generations";
        }
        int oldest = Math.max(0, all - DESCRIBED);
        StringJoiner described = new StringJoiner(", ", "the archive keeps ", "");
        for (int i = all - 1; i >= oldest; i--) {
            Generation generation = generations.get(i);
            described.add("generation " + generation.number() + " (sequences " + generation.firstSequence() + " to "
                    + generation.nextSequence() + ", of " + Instant.ofEpochMilli(generation.takenAtMillis()) + ")");
        }
        return described + (oldest > 0 ? ", and " + oldest + " older ones" : "");
    }

    /**
     * The record of a document's deletion. The field names and their order are those of the manifest's JSON.
     *
     * @param incarnation identifies the document
     * @param nextSequence the sequence that the document's next value would have had
     * @param deletedAtMillis when the document was deleted, by the server's clock, in milliseconds since 1970
     */
    public record Tombstone(@Hex long incarnation, long nextSequence, long deletedAtMillis) {}
}
