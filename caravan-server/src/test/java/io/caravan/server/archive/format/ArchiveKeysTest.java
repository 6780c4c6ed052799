package io.caravan.server.archive.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.caravan.catalog.DocumentName;
import io.caravan.server.archive.format.ArchiveKeys.SnapshotKey;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

class ArchiveKeysTest {
    private static final Pattern PART = Pattern.compile("[A-Za-z0-9_!-]{1,161}");

    @Test
    void keysHaveDocumentedForm() {
        DocumentName name = DocumentName.of("a b/c");
        assertThat(ArchiveKeys.manifest(name)).isEqualTo("manifests/a!20b!2fc");
        assertThat(ArchiveKeys.snapshots(name)).isEqualTo("snapshots/a!20b!2fc/");
        assertThat(ArchiveKeys.snapshot(name, 10, 255, 3, 0xCAFE_BABE))
                .isEqualTo("snapshots/a!20b!2fc/000000000000000a-00000000000000ff-0000000000000003-cafebabe");
    }

    @Test
    void encodesEverySingleByteReversibly() {
        Map<String, DocumentName> forms = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        for (int b = 0; b < 256; b++) {
            DocumentName name = DocumentName.of(new byte[] {(byte) b});
            String form = ArchiveKeys.encode(name);
            assertThat(form).matches(PART);
            assertThat(ArchiveKeys.decode(form)).isEqualTo(name);
            forms.put(form, name);
        }
        assertThat(forms).as("only A-Z and a-z differ by case alone").hasSize(256 - 26);
    }

    @Test
    void encodesNamesWithFileSystemMeaning() {
        for (String text : List.of(".", "..", "/", "a/../b", "a//b", "!", "!2f", "CON", "-", "~", "a.json", "\0")) {
            DocumentName name = DocumentName.of(text);
            assertThat(ArchiveKeys.encode(name)).matches(PART);
            assertThat(ArchiveKeys.decode(ArchiveKeys.encode(name))).isEqualTo(name);
        }
    }

    @Test
    void shortensFormsOver160CharactersWithHash() {
        DocumentName longest = DocumentName.of("x".repeat(160));
        assertThat(ArchiveKeys.encode(longest)).isEqualTo("x".repeat(160));
        DocumentName longer = DocumentName.of("x".repeat(161));
        assertThat(ArchiveKeys.encode(longer)).startsWith("x".repeat(96) + "!").hasSize(161);
        assertThat(ArchiveKeys.decode(ArchiveKeys.encode(longer))).isNull();
    }

    /**
     * Names that differ only after the part that a key contains must have different keys. Some are truncated within an
     * encoded byte.
     */
    @Test
    void namesHaveUniqueKeys() {
        Map<String, DocumentName> forms = new TreeMap<>();
        Random random = new Random(7);
        for (int length = 1; length <= DocumentName.MAX_BYTES; length++) {
            for (byte filling : new byte[] {'x', '/', (byte) 0xFF}) {
                byte[] bytes = new byte[length];
                Arrays.fill(bytes, filling);
                checkForm(forms, bytes.clone());
                bytes[length - 1] ^= 1;
                checkForm(forms, bytes);
            }
            byte[] noise = new byte[length];
            random.nextBytes(noise);
            checkForm(forms, noise);
        }
    }

    private static void checkForm(Map<String, DocumentName> forms, byte[] bytes) {
        DocumentName name = DocumentName.of(bytes);
        String form = ArchiveKeys.encode(name);
        assertThat(form).matches(PART);
        DocumentName other = forms.put(form, name);
        assertThat(other == null || other.equals(name)).as(form).isTrue();
        DocumentName back = ArchiveKeys.decode(form);
        assertThat(back).isEqualTo(form.length() <= ArchiveKeys.MAX_NAME_CHARS ? name : null);
    }

    @Test
    void rejectsMalformedKeys() {
        for (String form : List.of("", "a b", "!", "!2", "!zz", "!2F", "!61", ".", "a/b", "\u00e9")) {
            assertThat(ArchiveKeys.decode(form)).as(form).isNull();
        }
    }

    @Test
    void snapshotKeysSortByGenerationThenSequence() {
        DocumentName name = DocumentName.of("doc");
        List<String> keys = new ArrayList<>();
        for (long generation : new long[] {1, 2, 9, 10, 15, 16, 255, 256, 1L << 40, Long.MAX_VALUE}) {
            for (long next : new long[] {0, 1, 15, 16, 1L << 50, Long.MAX_VALUE}) {
                keys.add(ArchiveKeys.snapshot(name, generation, next, 5, (int) -generation));
            }
        }
        List<String> sorted = new ArrayList<>(keys);
        Collections.sort(sorted);
        assertThat(sorted).isEqualTo(keys);
    }

    @Test
    void parsesSnapshotKey() {
        String key = ArchiveKeys.snapshot(DocumentName.of("a/b"), 1, Long.MAX_VALUE, 7, -2);
        assertThat(ArchiveKeys.parseSnapshot(key)).isEqualTo(new SnapshotKey(1, Long.MAX_VALUE, 7));
    }

    @Test
    void doesNotParseOtherKeysAsSnapshots() {
        String key = ArchiveKeys.snapshot(DocumentName.of("a"), 1, 2, 3, 4);
        for (String other : List.of(
                "",
                ArchiveKeys.ROOT,
                ArchiveKeys.manifest(DocumentName.of("a")),
                key + "0",
                key.substring(1),
                key.replace("/a/", "//"),
                key.replace("/a/", "/a.b/"),
                key.replace("-0000000000000003", "-f000000000000003"),
                key.toUpperCase(Locale.ROOT))) {
            assertThat(ArchiveKeys.parseSnapshot(other)).as(other).isNull();
        }
    }

    @Test
    void rejectsNegativeGeneration() {
        assertThatIllegalArgumentException().isThrownBy(() -> ArchiveKeys.snapshot(DocumentName.of("a"), -1, 2, 3, 4));
    }
}
