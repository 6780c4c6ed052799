package io.caravan.format;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.testing.FormatTables;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.FieldSource;

/** Checks that {@code docs/internals/file-format.md} and this package agree on every field, offset, and constant. */
class FormatDocumentTest {
    private static final List<Class<?>> CLASSES = List.of(
            Blocks.class,
            FileHeader.class,
            FrameLayout.class,
            RecordLayout.class,
            EntryLayout.class,
            Region.class,
            CheckpointLayout.class,
            FsyncedLsnLayout.class);

    static final List<FormatTables.Layout> LAYOUTS = List.of(
            new FormatTables.Layout("FileHeader", FileHeader.class, ""),
            new FormatTables.Layout("FrameLayout", FrameLayout.class, ""),
            new FormatTables.Layout("RecordLayout", RecordLayout.class, ""),
            new FormatTables.Layout("EntryLayout", EntryLayout.class, ""),
            new FormatTables.Layout("CheckpointLayout", CheckpointLayout.class, ""),
            new FormatTables.Layout("CheckpointLayout.SECTION", CheckpointLayout.class, "SECTION_"),
            new FormatTables.Layout("CheckpointLayout.PIECE", CheckpointLayout.class, "PIECE_"),
            new FormatTables.Layout("FsyncedLsnLayout", FsyncedLsnLayout.class, ""));

    private static final FormatTables TABLES = new FormatTables("file-format.md", CLASSES, LAYOUTS, "constants");

    @ParameterizedTest
    @FieldSource("LAYOUTS")
    void documentedFieldOffsetsMatchCode(FormatTables.Layout layout) {
        assertThat(TABLES.documentedOffsets(layout)).containsExactlyInAnyOrderEntriesOf(TABLES.offsets(layout));
    }

    /** Checks that fields are contiguous; only fields of records overlap, because a record has one of three types. */
    @ParameterizedTest
    @FieldSource("LAYOUTS")
    void documentedFieldsAreContiguous(FormatTables.Layout layout) {
        TABLES.checkOrder(layout);
    }

    @Test
    void otherDocumentedConstantsMatchCode() {
        assertThat(TABLES.documentedConstants()).containsExactlyInAnyOrderEntriesOf(TABLES.constants());
    }

    @Test
    void documentedMagicsMatchCode() {
        Map<String, String> magics = new TreeMap<>();
        TABLES.tableBehind("magics").forEach(row -> magics.put(row.get(0), row.get(1)));
        Map<String, String> inCode = new TreeMap<>();
        Stream.of(FileNames.values()).forEach(kind -> inCode.put(kind.name(), kind.letters()));
        inCode.put("SHARDS", FileNames.SHARDS_LETTERS);
        assertThat(magics).containsExactlyInAnyOrderEntriesOf(inCode);
    }

    @ParameterizedTest
    @EnumSource(FileNames.class)
    void documentsNameOfEveryFileKind(FileNames kind) {
        assertThat(TABLES.document()).contains("`" + kind.of(0).replace("0000000000000000", "<number>") + "`");
    }

    /** Checks the documented factors of an entry's checksum, and a worked example. */
    @Test
    void documentedChecksumFormulaMatchesCode() {
        Matcher example = Pattern.compile("<!-- example -->`0x([0-9a-f]{8})`").matcher(TABLES.document());
        assertThat(example.find()).isTrue();
        byte[] value = "caravan".getBytes(UTF_8);
        assertThat(example.group(1)).isEqualTo(String.format("%08x", byTheDocument(value, 42, 4144, 7)));
        assertThat(byTheDocument(value, 42, 4144, 7))
                .isEqualTo(EntryLayout.checksum(Checksums.crc32c(value), value.length, 42, 4144, 7));
    }

    private static int byTheDocument(byte[] value, long id, long creationLsn, long sequence) {
        Matcher step = Pattern.compile("h = (?:\\(rotl\\(h, (\\d+)\\) \\^ (\\w+)\\)|id) *\\* 0x([0-9A-F]{16})")
                .matcher(TABLES.document());
        Map<String, Long> inputs =
                Map.of("creation_lsn", creationLsn, "sequence", sequence, "length", (long) value.length);
        long hash = 0;
        int steps = 0;
        while (step.find()) {
            long mixed = step.group(1) == null
                    ? id
                    : Long.rotateLeft(hash, Integer.parseInt(step.group(1))) ^ inputs.get(step.group(2));
            hash = mixed * Long.parseUnsignedLong(step.group(3), 16);
            steps++;
        }
        assertThat(steps).isEqualTo(4);
        return Checksums.crc32c(value) ^ (int) (hash >>> 32);
    }
}
