package io.caravan.server.archive.format;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.annotation.JsonSetter;
import com.fasterxml.jackson.annotation.Nulls;
import io.caravan.catalog.DocumentName;
import io.caravan.server.archive.format.ArchiveException.Reason;
import io.caravan.server.archive.format.ArchiveKeys.SnapshotKey;
import io.caravan.server.archive.format.SealedJson.Hex;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import java.util.StringJoiner;
import java.util.UUID;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The generations of one document name in an archive. An object that no manifest names is not archived. For the bytes of
 * a manifest, see {@link SealedJson} and {@code docs/internals/archive-format.md}. An encoded manifest satisfies these
 * conditions:
 *
 * <ol>
 *   <li>Only an incarnation may be below 0.
 *   <li>The generations' numbers increase. They are at least 1 and at most {@code lastGeneration}.
 *   <li>Each generation has the key that {@link ArchiveKeys} defines for the name and its numbers. The key's next
 *   sequence may be lower, because the document may advance between the choice of the key and the snapshot.
 *   <li>The first sequence of a generation is not above its next sequence.
 *   <li>The hash of a generation is a SHA-256.
 * </ol>
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

    /** The format name at the start of a manifest. */
    public static final String FORMAT = "caravan-manifest";
    /** The version that this release reads and writes. */
    public static final int VERSION = 1;
    /** Maximum length of a manifest, which suffices for tens of thousands of generations. */
    public static final int MAX_BYTES = 16 << 20;

    private static final Pattern SHA256 = Pattern.compile("[0-9a-f]{64}");
    private static final SealedJson<ManifestJson> JSON =
            new SealedJson<>(ManifestJson.class, FORMAT, VERSION, MAX_BYTES);

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

        Manifest manifest() {
            DocumentName decoded = DocumentName.of(Base64.getDecoder().decode(nameBase64.getBytes(UTF_8)));
            if (!decoded.text().equals(name)) {
                throw new IllegalArgumentException("its name is '" + name + "', and in Base64 '" + decoded + "'");
            }
            return new Manifest(SealedJson.store(store), decoded, epoch, lastGeneration, generations, tombstone);
        }
    }

    /**
     * Encodes the manifest.
     *
     * @throws IllegalArgumentException when it violates the conditions of this class
     * @throws ArchiveException {@code FULL} when it has too many generations
     */
    public byte[] encode() {
        check();
        byte[] bytes = JSON.encode(new ManifestJson(
                FORMAT,
                VERSION,
                store.toString(),
                name.text(),
                Base64.getEncoder().encodeToString(name.toBytes()),
                epoch,
                lastGeneration,
                generations,
                tombstone));
        if (bytes.length > MAX_BYTES) {
            throw new ArchiveException(
                    Reason.FULL,
                    ArchiveKeys.manifest(name) + ", document '" + name
                            + "': there is no space for another generation after "
                            + generations.size()
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
            manifest.check();
            return manifest;
        } catch (IllegalArgumentException invalid) {
            throw ArchiveException.corrupt(
                    object + ", document '" + json.name() + "'", String.valueOf(invalid.getMessage()));
        }
    }

    private void check() {
        notNegative("epoch", epoch);
        notNegative("lastGeneration", lastGeneration);
        String directory = ArchiveKeys.snapshots(name);
        long before = 0;
        for (Generation generation : generations) {
            check(
                    generation.number() > before && generation.number() <= lastGeneration,
                    "generation " + generation.number() + " follows " + before + ", with last generation "
                            + lastGeneration);
            check(generation, directory);
            before = generation.number();
        }
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
        check(SHA256.matcher(generation.sha256()).matches(), "sha256 " + generation.sha256());
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
