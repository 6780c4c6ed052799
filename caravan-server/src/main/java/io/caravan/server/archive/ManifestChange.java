package io.caravan.server.archive;

import io.caravan.server.archive.format.ArchiveException;
import io.caravan.server.archive.format.ArchiveException.Reason;
import io.caravan.server.archive.format.Generation;
import io.caravan.server.archive.format.Manifest;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * An owner's change to a manifest. It adds generations or a tombstone and removes nothing. The numbers of
 * generations only increase. Within an incarnation, no generation is older than the one before it.
 *
 * @param before the manifest that was read, or null when there was none
 * @param after its replacement
 */
record ManifestChange(@Nullable Manifest before, Manifest after) {

    /**
     * Checks that the change follows these rules.
     *
     * @throws IllegalArgumentException when the caller has broken a rule
     * @throws ArchiveException {@code DIVERGED} when the document is older than its latest generation
     */
    void check() {
        List<Generation> kept = before == null ? List.of() : before.generations();
        List<Generation> all = after.generations();
        require(before == null || before.name().equals(after.name()), "it is that of another document");
        require(all.size() >= kept.size() && all.subList(0, kept.size()).equals(kept), "it lacks generations");
        long last = lastBefore();
        for (Generation added : all.subList(kept.size(), all.size())) {
            require(added.number() > last, "generation " + added.number() + " is not above " + last);
            last = added.number();
        }
        require(after.lastGeneration() == last, "its last generation is not " + last);
        require(all.size() > kept.size() || after.tombstone() != null, "it adds nothing");
        for (int i = kept.size(); i < all.size(); i++) {
            Generation added = all.get(i);
            all.subList(0, i).stream()
                    .filter(earlier -> earlier.incarnation() == added.incarnation())
                    .reduce((first, second) -> second)
                    .ifPresent(latest -> checkTime(latest, added));
        }
    }

    private void require(boolean holds, String otherwise) {
        if (!holds) {
            throw new IllegalArgumentException("the manifest of '" + after.name() + "' must not be put: " + otherwise);
        }
    }

    private long lastBefore() {
        return before == null ? 0 : before.lastGeneration();
    }

    private void checkTime(Generation last, Generation added) {
        if (added.nextSequence() < last.nextSequence()) {
            throw new ArchiveException(
                    Reason.DIVERGED,
                    "document '" + after.name() + "' ends at sequence " + added.nextSequence()
                            + " in this store, but its generation " + last.number() + " in the archive ends at "
                            + last.nextSequence()
                            + ": this store is an older copy, so the archive was not changed."
                            + " Restore the document from the archive, or restore it under another name and delete"
                            + " it in this store");
        }
    }

    /** Whether a manifest includes the change; other processes may have changed the manifest further. */
    boolean isIn(Manifest manifest) {
        Generation latest = after.latest();
        if (latest != null && latest.number() > lastBefore()) {
            return manifest.generations().stream()
                    .anyMatch(generation -> generation.key().equals(latest.key()));
        }
        return after.tombstone() != null
                && after.tombstone().equals(manifest.tombstone())
                && after.lastGeneration() == manifest.lastGeneration();
    }
}
