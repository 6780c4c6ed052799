package io.caravan.server.archive.format;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.annotation.JsonSetter;
import com.fasterxml.jackson.annotation.Nulls;
import io.caravan.catalog.DocumentName;
import io.caravan.server.archive.format.ArchiveException.Reason;
import io.caravan.server.archive.format.ArchiveKeys.SnapshotKey;
import io.caravan.server.archive.format.Manifest.Tombstone;
import io.caravan.server.archive.object.Digests;
import java.util.Base64;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Encodes and decodes manifests; see {@link SealedJson} and {@code docs/internals/archive-format.md}. Thread-safe.
 * Every manifest satisfies these conditions:
 *
 * <ol>
 *   <li>Only an incarnation may be below 0.
 *   <li>The generations' numbers increase. They are at least 1 and at most {@code lastGeneration}.
 *   <li>Each generation has the key that {@link ArchiveKeys} defines for the name and its numbers. The key's next
 *   sequence may be lower, because the document may advance between the choice of the key and the snapshot.
 *   <li>The first sequence of a generation is not above its next sequence.
 *   <li>The hash of a generation is a SHA-256.
 * </ol>
 */
public final class ManifestCodec {
    /** The format name at the start of a manifest. */
    public static final String FORMAT = "caravan-manifest";
    /** The version that this release reads and writes. */
    public static final int VERSION = 1;
    /** Maximum length of a manifest, which suffices for tens of thousands of generations. */
    public static final int MAX_BYTES = 16 << 20;

    private static final SealedJson<ManifestJson> JSON =
            new SealedJson<>(ManifestJson.class, FORMAT, VERSION, MAX_BYTES);

    private ManifestCodec() {}

    /** The JSON of a manifest. It also contains the name in Base64, because a name need not be text. */
    record ManifestJson(
            String format,
            int version,
            String store,
            String name,
            String nameBase64,
            long epoch,
            long lastGeneration,
            List<Generation> generations,
            @JsonSetter(nulls = Nulls.SET) @Nullable Tombstone tombstone) {

        static ManifestJson of(Manifest manifest) {
            return new ManifestJson(
                    FORMAT,
                    VERSION,
                    manifest.store().toString(),
                    manifest.name().text(),
                    Base64.getEncoder().encodeToString(manifest.name().toBytes()),
                    manifest.epoch(),
                    manifest.lastGeneration(),
                    manifest.generations(),
                    manifest.tombstone());
        }

        Manifest manifest() {
            DocumentName decoded = DocumentName.of(Base64.getDecoder().decode(nameBase64.getBytes(UTF_8)));
            if (!decoded.text().equals(name)) {
                throw new IllegalArgumentException("its name is '" + name + "', and in Base64 '" + decoded + "'");
            }
            return new Manifest(SealedJson.store(store), decoded, epoch, lastGeneration, generations, tombstone);
        }
    }

    /**
     * Encodes a manifest.
     *
     * @throws IllegalArgumentException when it violates the conditions of this class
     * @throws ArchiveException {@code FULL} when it has too many generations
     */
    public static byte[] encode(Manifest manifest) {
        check(manifest);
        byte[] bytes = JSON.encode(ManifestJson.of(manifest));
        if (bytes.length > MAX_BYTES) {
            throw new ArchiveException(
                    Reason.FULL,
                    ArchiveKeys.manifest(manifest.name()) + ", document '" + manifest.name()
                            + "': there is no space for another generation after "
                            + manifest.generations().size()
                            + "; run caravan archive prune to remove old ones");
        }
        return bytes;
    }

    /**
     * Decodes a manifest. The caller must check that it belongs to the document of its key.
     *
     * @param object its key or address, for messages
     * @throws ArchiveException {@code CORRUPT} or {@code VERSION}
     */
    public static Manifest decode(byte[] bytes, String object) {
        ManifestJson json = JSON.decode(bytes, object);
        try {
            Manifest manifest = json.manifest();
            check(manifest);
            return manifest;
        } catch (IllegalArgumentException invalid) {
            throw ArchiveException.corrupt(
                    object + ", document '" + json.name() + "'", String.valueOf(invalid.getMessage()));
        }
    }

    private static void check(Manifest manifest) {
        notNegative("epoch", manifest.epoch());
        notNegative("lastGeneration", manifest.lastGeneration());
        String directory = ArchiveKeys.snapshots(manifest.name());
        long before = 0;
        for (Generation generation : manifest.generations()) {
            check(
                    generation.number() > before && generation.number() <= manifest.lastGeneration(),
                    "generation " + generation.number() + " follows " + before + ", with last generation "
                            + manifest.lastGeneration());
            check(generation, directory);
            before = generation.number();
        }
        Tombstone tombstone = manifest.tombstone();
        if (tombstone != null) {
            notNegative("tombstone's nextSequence", tombstone.nextSequence());
            notNegative("deletedAtMillis", tombstone.deletedAtMillis());
        }
    }

    private static void check(Generation generation, String directory) {
        notNegative("epoch", generation.epoch());
        notNegative("takenAtMillis", generation.takenAtMillis());
        notNegative("valueBytes", generation.valueBytes());
        notNegative("objectBytes", generation.objectBytes());
        check(
                generation.firstSequence() >= 0 && generation.firstSequence() <= generation.nextSequence(),
                "sequences from " + generation.firstSequence() + " to before " + generation.nextSequence());
        SnapshotKey key = ArchiveKeys.parseSnapshot(generation.key());
        check(
                key != null
                        && generation.key().startsWith(directory)
                        && key.generation() == generation.number()
                        && key.nextSequence() <= generation.nextSequence()
                        && key.epoch() == generation.epoch(),
                "key " + generation.key() + " for generation " + generation.number());
        check(Digests.isSha256(generation.sha256()), "sha256 " + generation.sha256());
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
