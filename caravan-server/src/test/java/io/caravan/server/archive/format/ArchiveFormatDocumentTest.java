package io.caravan.server.archive.format;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.testing.FormatTables;
import java.lang.reflect.RecordComponent;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that {@code docs/internals/archive-format.md} matches the classes of this package. */
class ArchiveFormatDocumentTest {
    static final List<FormatTables.Layout> LAYOUTS = List.of(
            new FormatTables.Layout("SnapshotLayout", SnapshotLayout.class, ""),
            new FormatTables.Layout("SnapshotLayout.BLOCK", SnapshotLayout.class, "BLOCK_"),
            new FormatTables.Layout("SnapshotLayout.ENTRY", SnapshotLayout.class, "ENTRY_"),
            new FormatTables.Layout("SnapshotLayout.FOOTER", SnapshotLayout.class, "FOOTER_"));

    private static final FormatTables TABLES = new FormatTables(
            "archive-format.md",
            List.of(ArchiveKeys.class, SnapshotLayout.class, Manifest.class, ArchiveRoot.class),
            LAYOUTS,
            "archive constants");

    private static final Pattern LETTERS = Pattern.compile("`([A-Z]+)` in the order of the bytes");

    @ParameterizedTest
    @FieldSource("LAYOUTS")
    void documentedOffsetsMatchLayout(FormatTables.Layout layout) {
        assertThat(TABLES.documentedOffsets(layout)).containsExactlyInAnyOrderEntriesOf(TABLES.offsets(layout));
    }

    @ParameterizedTest
    @FieldSource("LAYOUTS")
    void documentedFieldsAreContiguous(FormatTables.Layout layout) {
        TABLES.checkOrder(layout);
    }

    @Test
    void documentedConstantsMatchCode() {
        assertThat(TABLES.documentedConstants()).containsExactlyInAnyOrderEntriesOf(TABLES.constants());
    }

    @Test
    void documentedLettersMatchNumbers() {
        Map<String, String> letters = new TreeMap<>();
        for (List<String> row : TABLES.tableBehind("archive constants")) {
            Matcher written = LETTERS.matcher(row.get(2));
            if (written.matches()) {
                byte[] bytes = BigInteger.valueOf(Long.decode(row.get(1))).toByteArray();
                letters.put(
                        new StringBuilder(new String(bytes, ISO_8859_1))
                                .reverse()
                                .toString(),
                        written.group(1));
            }
        }
        assertThat(letters).isEqualTo(Map.of("CARAVSNP", "CARAVSNP", "CEND", "CEND"));
    }

    @Test
    void documentsEveryKey() {
        Map<String, String> keys = new TreeMap<>();
        TABLES.tableBehind("archive keys").forEach(row -> keys.put(row.get(0), row.get(1)));
        assertThat(keys)
                .isEqualTo(Map.of(
                        "ArchiveKeys.ROOT", "`" + ArchiveKeys.ROOT + "`",
                        "ArchiveKeys.MANIFESTS", "`" + ArchiveKeys.MANIFESTS + "`",
                        "ArchiveKeys.SNAPSHOTS", "`" + ArchiveKeys.SNAPSHOTS + "`"));
    }

    @ParameterizedTest
    @ValueSource(
            classes = {
                Manifest.ManifestJson.class,
                Generation.class,
                Manifest.Tombstone.class,
                ArchiveRoot.RootJson.class
            })
    void documentedJsonFieldsMatchRecordOrder(Class<?> json) {
        String name =
                json.getName().substring(json.getPackageName().length() + 1).replace('$', '.');
        assertThat(TABLES.tableBehind("json: " + name))
                .extracting(row -> row.get(0))
                .containsExactlyElementsOf(Stream.of(json.getRecordComponents())
                        .map(RecordComponent::getName)
                        .toList());
    }

    @Test
    void documentsFormatNames() {
        assertThat(TABLES.tableBehind("json: Manifest.ManifestJson").get(0))
                .containsExactly("format", "`caravan-manifest`");
        assertThat(Manifest.FORMAT).isEqualTo("caravan-manifest");
        assertThat(TABLES.tableBehind("json: ArchiveRoot.RootJson").get(0))
                .containsExactly("format", "`caravan-archive`");
        assertThat(ArchiveRoot.FORMAT).isEqualTo("caravan-archive");
    }

    @Test
    void documentedChecksumExampleMatchesCode() {
        Matcher example =
                Pattern.compile("<!-- archive example -->`0x([0-9a-f]{8})`").matcher(TABLES.document());
        assertThat(example.find()).isTrue();
        int checksum = new SnapshotLayout.EntryChecksum().of(7, ByteBuffer.wrap("caravan".getBytes(UTF_8)));
        assertThat(example.group(1)).isEqualTo(String.format("%08x", checksum));
    }
}
