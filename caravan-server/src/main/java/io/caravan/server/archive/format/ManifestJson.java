package io.caravan.server.archive.format;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import com.fasterxml.jackson.annotation.JsonSetter;
import com.fasterxml.jackson.annotation.Nulls;
import io.caravan.catalog.DocumentName;
import io.caravan.server.archive.format.Manifest.Tombstone;
import java.util.Base64;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The JSON of a manifest. Incarnations are 16 hexadecimal digits, as not every reader of JSON has whole numbers of 64
 * bits; the name's bytes need not be text, so they are there in Base64 besides.
 */
@JsonPropertyOrder({
    "format",
    "version",
    "store",
    "name",
    "nameBase64",
    "epoch",
    "lastGeneration",
    "generations",
    "tombstone"
})
record ManifestJson(
        String format,
        int version,
        String store,
        String name,
        String nameBase64,
        long epoch,
        long lastGeneration,
        List<GenerationJson> generations,
        @JsonSetter(nulls = Nulls.SET) @Nullable TombstoneJson tombstone) {

    /** A snapshot of the manifest. */
    @JsonPropertyOrder({
        "number",
        "key",
        "incarnation",
        "epoch",
        "firstSequence",
        "nextSequence",
        "takenAtMillis",
        "valueBytes",
        "objectBytes",
        "sha256"
    })
    record GenerationJson(
            long number,
            String key,
            String incarnation,
            long epoch,
            long firstSequence,
            long nextSequence,
            long takenAtMillis,
            long valueBytes,
            long objectBytes,
            String sha256) {

        static GenerationJson of(Generation generation) {
            return new GenerationJson(
                    generation.number(),
                    generation.key(),
                    JsonText.of(generation.incarnation()),
                    generation.epoch(),
                    generation.firstSequence(),
                    generation.nextSequence(),
                    generation.takenAtMillis(),
                    generation.valueBytes(),
                    generation.objectBytes(),
                    generation.sha256());
        }

        Generation generation() {
            return new Generation(
                    number,
                    key,
                    JsonText.number(incarnation),
                    epoch,
                    firstSequence,
                    nextSequence,
                    takenAtMillis,
                    valueBytes,
                    objectBytes,
                    sha256);
        }
    }

    /** The deletion of the manifest's document. */
    @JsonPropertyOrder({"incarnation", "nextSequence", "deletedAtMillis"})
    record TombstoneJson(String incarnation, long nextSequence, long deletedAtMillis) {

        static TombstoneJson of(Tombstone tombstone) {
            return new TombstoneJson(
                    JsonText.of(tombstone.incarnation()), tombstone.nextSequence(), tombstone.deletedAtMillis());
        }

        Tombstone tombstone() {
            return new Tombstone(JsonText.number(incarnation), nextSequence, deletedAtMillis);
        }
    }

    static ManifestJson of(String format, int version, Manifest manifest) {
        Tombstone tombstone = manifest.tombstone();
        return new ManifestJson(
                format,
                version,
                manifest.store().toString(),
                manifest.name().text(),
                Base64.getEncoder().encodeToString(manifest.name().toBytes()),
                manifest.epoch(),
                manifest.lastGeneration(),
                manifest.generations().stream().map(GenerationJson::of).toList(),
                tombstone == null ? null : TombstoneJson.of(tombstone));
    }

    /**
     * The manifest.
     *
     * @throws IllegalArgumentException when a text does not stand for anything
     */
    Manifest manifest() {
        return new Manifest(
                JsonText.store(store),
                documentName(),
                epoch,
                lastGeneration,
                generations.stream().map(GenerationJson::generation).toList(),
                tombstone == null ? null : tombstone.tombstone());
    }

    private DocumentName documentName() {
        DocumentName decoded = DocumentName.of(Base64.getDecoder().decode(nameBase64.getBytes(UTF_8)));
        if (!decoded.text().equals(name)) {
            throw new IllegalArgumentException("its name is '" + name + "', and in Base64 '" + decoded + "'");
        }
        return decoded;
    }
}
