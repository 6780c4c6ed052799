package io.caravan.format;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Holds {@code docs/FORMAT.md} to the classes of this package: every field, offset and constant, in both directions. */
class FormatDocumentTest {
    private static final List<Class<?>> CLASSES = List.of(
            Blocks.class,
            FileHeader.class,
            FrameLayout.class,
            RecordLayout.class,
            EntryLayout.class,
            Region.class,
            CheckpointLayout.class);

    private static String document;

    @BeforeAll
    static void readDocument() throws IOException {
        Path inModule = Path.of("../docs/FORMAT.md");
        document = Files.readString(Files.exists(inModule) ? inModule : Path.of("docs/FORMAT.md"));
    }

    /** A layout in the document: the class, and which of its constants. */
    private enum Layout {
        FILE_HEADER("FileHeader", FileHeader.class, ""),
        FRAME("FrameLayout", FrameLayout.class, ""),
        RECORD("RecordLayout", RecordLayout.class, ""),
        ENTRY("EntryLayout", EntryLayout.class, ""),
        CHECKPOINT("CheckpointLayout", CheckpointLayout.class, ""),
        SECTION("CheckpointLayout.SECTION", CheckpointLayout.class, "SECTION_"),
        PIECE("CheckpointLayout.PIECE", CheckpointLayout.class, "PIECE_");

        private final String marker;
        private final Class<?> owner;
        private final String prefix;

        Layout(String marker, Class<?> owner, String prefix) {
            this.marker = marker;
            this.owner = owner;
            this.prefix = prefix;
        }

        boolean has(String owner, String constant) {
            return this.owner.getSimpleName().equals(owner)
                    && (prefix.isEmpty()
                            ? !constant.startsWith(SECTION.prefix) && !constant.startsWith(PIECE.prefix)
                            : constant.startsWith(prefix));
        }
    }

    @ParameterizedTest
    @EnumSource(Layout.class)
    void everyFieldIsAtItsOffset(Layout layout) {
        Map<String, Long> offsets = new LinkedHashMap<>();
        for (List<String> row : tableBehind("layout: " + layout.marker)) {
            offsets.put(row.get(0), Long.parseLong(row.get(1)));
        }
        Map<String, Long> inCode = constantsOf(layout.owner);
        inCode.keySet()
                .removeIf(name ->
                        !layout.has(layout.owner.getSimpleName(), name) || isListedAsConstant(layout.owner, name));
        assertThat(offsets).containsExactlyInAnyOrderEntriesOf(inCode);
    }

    /** Only the fields of records overlap, as a record is one of three. */
    @ParameterizedTest
    @EnumSource(Layout.class)
    void theFieldsFollowEachOther(Layout layout) {
        List<List<String>> rows = tableBehind("layout: " + layout.marker);
        for (int i = 0; i + 1 < rows.size(); i++) {
            long end = Long.parseLong(rows.get(i).get(1))
                    + Long.parseLong(rows.get(i).get(2));
            assertThat(rows.get(i + 1).get(1))
                    .as("offset behind " + rows.get(i))
                    .isEqualTo(Long.toString(end));
        }
    }

    @Test
    void everyOtherConstantHasItsValue() {
        Map<String, Long> values = new TreeMap<>();
        for (List<String> row : tableBehind("constants")) {
            values.put(row.get(0), Long.decode(row.get(1)));
        }
        Map<String, Long> inCode = new TreeMap<>();
        for (Class<?> owner : CLASSES) {
            constantsOf(owner).forEach((name, value) -> inCode.put(owner.getSimpleName() + "." + name, value));
        }
        for (Layout layout : Layout.values()) {
            tableBehind("layout: " + layout.marker)
                    .forEach(row -> inCode.remove(layout.owner.getSimpleName() + "." + row.get(0)));
        }
        assertThat(values).containsExactlyInAnyOrderEntriesOf(inCode);
    }

    @Test
    void everyKindOfFileHasItsMagic() {
        Map<String, String> magics = new TreeMap<>();
        tableBehind("magics").forEach(row -> magics.put(row.get(0), row.get(1)));
        Map<String, String> inCode = new TreeMap<>();
        Stream.of(FileHeader.Kind.values()).forEach(kind -> inCode.put(kind.name(), kind.letters()));
        assertThat(magics).containsExactlyInAnyOrderEntriesOf(inCode);
    }

    @ParameterizedTest
    @EnumSource(FileNames.class)
    void everyKindOfFileIsNamed(FileNames kind) {
        assertThat(document).contains("`" + kind.of(0).replace("0000000000000000", "<number>") + "`");
    }

    /** The factors of the entry's checksum, and an example worked out. */
    @Test
    void theChecksumsFormulaIsTheCodes() {
        Matcher example = Pattern.compile("<!-- example -->`0x([0-9a-f]{8})`").matcher(document);
        assertThat(example.find()).isTrue();
        byte[] value = "caravan".getBytes(UTF_8);
        assertThat(example.group(1)).isEqualTo(String.format("%08x", byTheDocument(value, 42, 4144, 7)));
        assertThat(byTheDocument(value, 42, 4144, 7))
                .isEqualTo(EntryLayout.checksum(Checksums.crc32c(value), value.length, 42, 4144, 7));
    }

    private static int byTheDocument(byte[] value, long id, long birth, long sequence) {
        Matcher step = Pattern.compile("h = (?:\\(rotl\\(h, (\\d+)\\) \\^ (\\w+)\\)|id) *\\* 0x([0-9A-F]{16})")
                .matcher(document);
        Map<String, Long> inputs = Map.of("birth", birth, "sequence", sequence, "length", (long) value.length);
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

    private boolean isListedAsConstant(Class<?> owner, String name) {
        return tableBehind("constants").stream().anyMatch(row -> row.get(0).equals(owner.getSimpleName() + "." + name));
    }

    private static Map<String, Long> constantsOf(Class<?> owner) {
        Map<String, Long> constants = new TreeMap<>();
        for (Field field : owner.getDeclaredFields()) {
            boolean constant = Modifier.isStatic(field.getModifiers()) && Modifier.isPublic(field.getModifiers());
            if (constant && (field.getType() == int.class || field.getType() == long.class)) {
                constants.put(field.getName(), valueOf(field));
            }
        }
        return constants;
    }

    private static long valueOf(Field field) {
        try {
            return ((Number) field.get(null)).longValue();
        } catch (IllegalAccessException e) {
            throw new AssertionError(e);
        }
    }

    /** The rows of the table behind a marker, without its head. */
    private static List<List<String>> tableBehind(String marker) {
        int at = document.indexOf("<!-- " + marker + " -->");
        assertThat(at).as(marker).isNotNegative();
        List<List<String>> rows = new ArrayList<>();
        for (String line : document.substring(at).lines().skip(1).toList()) {
            if (line.startsWith("|")) {
                rows.add(Stream.of(line.substring(1).split("\\|"))
                        .map(String::trim)
                        .toList());
            } else if (!line.isBlank()) {
                break;
            }
        }
        return rows.subList(2, rows.size());
    }
}
