package io.caravan.server.archive;

import io.caravan.server.archive.format.ArchiveException;
import io.caravan.server.archive.format.ArchiveException.Reason;
import io.caravan.server.archive.format.Generation;
import io.caravan.server.archive.format.Manifest;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What an owner does to a manifest: it adds a generation, or a tombstone. The numbers of generations only rise, nothing
 * is taken out, and no generation of an incarnation is followed by an older state of it.
 *
 * @param before the manifest that was read, or null when there was none
 * @param after what shall be in its place
 */
record ManifestChange(@Nullable Manifest before, Manifest after) {

    /**
     * Checks the rules.
     *
     * @throws IllegalArgumentException when the caller has broken one
     * @throws ArchiveException {@code BACK_IN_TIME} when the document is older than what is archived of it
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
            checkTime(all.subList(0, i), all.get(i));
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

    private void checkTime(List<Generation> earlier, Generation added) {
        for (int i = earlier.size() - 1; i >= 0; i--) {
            Generation last = earlier.get(i);
            if (last.incarnation() == added.incarnation()) {
                checkTime(last, added);
                return;
            }
        }
    }

    private void checkTime(Generation last, Generation added) {
        if (added.nextSequence() < last.nextSequence()) {
            throw new ArchiveException(
                    Reason.BACK_IN_TIME,
                    "document '" + after.name() + "' is at sequence " + added.nextSequence()
                            + " here, and its generation " + last.number() + " in the archive at "
                            + last.nextSequence()
                            + ": the store here is an older copy, and the archive keeps what it has."
                            + " Restore the document from the archive, or restore it under another name and delete it"
                            + " here");
        }
    }

    /** Whether the change is in a manifest, which others may have changed further. */
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
