package io.caravan.server.archive.format;

import io.caravan.server.archive.format.ArchiveKeys.SnapshotKey;
import io.caravan.server.archive.format.Manifest.Tombstone;
import org.jspecify.annotations.Nullable;

/**
 * What every manifest fulfils: (1) no number but an incarnation is below 0; (2) the generations' numbers rise, from 1
 * to the last one at most; (3) each has the key that {@link ArchiveKeys} gives for the name and its numbers, but that
 * the document may have gone on between the choice of the key and the snapshot; (4) its first sequence is not above its
 * next; (5) its hash is one. Throws IllegalArgumentException otherwise.
 */
final class ManifestCheck {

    private ManifestCheck() {}

    static void check(Manifest manifest) {
        notNegative("epoch", manifest.epoch());
        notNegative("lastGeneration", manifest.lastGeneration());
        String folder = ArchiveKeys.snapshots(manifest.name());
        long before = 0;
        for (Generation generation : manifest.generations()) {
            check(
                    generation.number() > before && generation.number() <= manifest.lastGeneration(),
                    "generation " + generation.number() + " behind " + before + ", with last generation "
                            + manifest.lastGeneration());
            check(generation, folder);
            before = generation.number();
        }
        check(manifest.tombstone());
    }

    private static void check(Generation generation, String folder) {
        notNegative("epoch", generation.epoch());
        notNegative("takenAtMillis", generation.takenAtMillis());
        notNegative("valueBytes", generation.valueBytes());
        notNegative("objectBytes", generation.objectBytes());
        check(
                generation.firstSequence() >= 0 && generation.firstSequence() <= generation.nextSequence(),
                "sequences from " + generation.firstSequence() + " to before " + generation.nextSequence());
        check(isKey(generation, folder), "key " + generation.key() + " for generation " + generation.number());
        check(Sha256.isHex(generation.sha256()), "sha256 " + generation.sha256());
    }

    private static boolean isKey(Generation generation, String folder) {
        SnapshotKey key = ArchiveKeys.parseSnapshot(generation.key());
        return key != null
                && generation.key().startsWith(folder)
                && key.generation() == generation.number()
                && key.nextSequence() <= generation.nextSequence()
                && key.epoch() == generation.epoch();
    }

    private static void check(@Nullable Tombstone tombstone) {
        if (tombstone != null) {
            notNegative("tombstone's nextSequence", tombstone.nextSequence());
            notNegative("deletedAtMillis", tombstone.deletedAtMillis());
        }
    }

    private static void notNegative(String what, long number) {
        check(number >= 0, what + " " + number);
    }

    private static void check(boolean holds, String otherwise) {
        if (!holds) {
            throw new IllegalArgumentException("it cannot have " + otherwise);
        }
    }
}
