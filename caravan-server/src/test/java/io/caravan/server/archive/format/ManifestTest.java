package io.caravan.server.archive.format;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.caravan.catalog.DocumentName;
import io.caravan.server.archive.format.ArchiveException.Reason;
import io.caravan.server.archive.format.Manifest.Tombstone;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ManifestTest {
    private static final String OBJECT = "manifests/doc";
    private static final String SHA = "0123456789abcdef".repeat(4);

    static Generation generation(DocumentName name, long number) {
        return new Generation(
                number,
                ArchiveKeys.snapshot(name, number, 20 + number, 2, 9),
                Long.MIN_VALUE + number,
                2,
                10,
                20 + number,
                1_795_000_000_000L,
                1234,
                567,
                SHA);
    }

    static Manifest manifest(DocumentName name) {
        return new Manifest(
                Snapshots.STORE,
                name,
                3,
                9,
                List.of(generation(name, 4), generation(name, 7)),
                new Tombstone(-1, 30, 1_795_000_000_001L));
    }

    /** Returns the JSON followed by its checksum line. */
    static byte[] sealed(byte[] json) {
        CRC32C crc = new CRC32C();
        crc.update(json);
        crc.update('\n');
        byte[] seal = String.format("\ncrc32c:%08x\n", crc.getValue()).getBytes(UTF_8);
        byte[] sealed = Arrays.copyOf(json, json.length + seal.length);
        System.arraycopy(seal, 0, sealed, json.length, seal.length);
        return sealed;
    }

    private static byte[] sealed(String json) {
        return sealed(json.getBytes(UTF_8));
    }

    private static String json(Manifest manifest) {
        return new String(manifest.encode(), UTF_8).lines().findFirst().orElseThrow();
    }

    private static void assertRejected(byte[] bytes, Reason reason, String problem) {
        assertThatExceptionOfType(ArchiveException.class)
                .isThrownBy(() -> Manifest.decode(bytes, OBJECT))
                .withMessageStartingWith(OBJECT)
                .withMessageContaining(problem)
                .satisfies(rejection -> assertThat(rejection.reason()).isEqualTo(reason));
    }

    @Test
    void encodesDocumentedText() {
        DocumentName name = DocumentName.of("doc");
        Manifest manifest = new Manifest(Snapshots.STORE, name, 3, 4, List.of(generation(name, 4)), null);
        assertThat(json(manifest))
                .isEqualTo("{\"format\":\"caravan-manifest\",\"version\":1,"
                        + "\"store\":\"00112233-4455-6677-8899-aabbccddeeff\",\"name\":\"doc\",\"nameBase64\":\"ZG9j\","
                        + "\"epoch\":3,\"lastGeneration\":4,\"generations\":[{\"number\":4,"
                        + "\"key\":\"snapshots/doc/0000000000000004-0000000000000018-0000000000000002-00000009\","
                        + "\"incarnation\":\"8000000000000004\",\"epoch\":2,\"firstSequence\":10,\"nextSequence\":24,"
                        + "\"takenAtMillis\":1795000000000,\"valueBytes\":1234,\"objectBytes\":567,\"sha256\":\"" + SHA
                        + "\"}],\"tombstone\":null}");
        assertThat(manifest.encode()).isEqualTo(sealed(json(manifest)));
    }

    @Test
    void decodesEncodedManifests() {
        for (DocumentName name : List.of(
                DocumentName.of("doc"),
                DocumentName.of(new byte[] {(byte) 0xFF, 0, '"', '\n', (byte) 0xC3}),
                DocumentName.of("\u2028 \ud83d\udc2b"),
                DocumentName.of(new byte[DocumentName.MAX_BYTES]))) {
            Manifest full = manifest(name);
            assertThat(Manifest.decode(full.encode(), OBJECT)).isEqualTo(full);
            Manifest empty = new Manifest(Snapshots.STORE, name, 0, 0, List.of(), null);
            assertThat(Manifest.decode(empty.encode(), OBJECT)).isEqualTo(empty);
        }
    }

    @Test
    void reportsNewerVersionDespiteUnknownFields() {
        assertRejected(
                sealed("{\"format\":\"caravan-manifest\",\"version\":2,\"unheard\":[]}"),
                Reason.VERSION,
                "format version 2");
    }

    @Test
    void rejectsOtherKindsOfObjects() {
        byte[] root = new ArchiveRoot(Snapshots.STORE, 1, "me", 5).encode();
        assertRejected(root, Reason.CORRUPT, "does not begin with the format caravan-manifest");
        assertRejected(sealed("[]"), Reason.CORRUPT, "does not begin with");
        assertRejected(sealed("{\"format\":\"caravan-manifest\"}"), Reason.CORRUPT, "not followed by a version");
        assertRejected(new byte[0], Reason.CORRUPT, "cut off");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
            "number":7               | "number":4               | generation 4 follows 4
            "number":7               | "number":10              | generation 10 follows 4
            "number":4               | "number":0               | generation 0 follows 0
            "number":4               | "number":5               | for generation 5
            "lastGeneration":9       | "lastGeneration":6       | with last generation 6
            "epoch":3                | "epoch":-1               | epoch -1
            "epoch":2                | "epoch":1                | key snapshots/doc
            "firstSequence":10       | "firstSequence":25       | sequences from 25 to before 24
            "firstSequence":10       | "firstSequence":-1       | sequences from -1
            "nextSequence":24        | "nextSequence":23        | key snapshots/doc
            "valueBytes":1234        | "valueBytes":-1          | valueBytes -1
            "objectBytes":567        | "objectBytes":-1         | objectBytes -1
            "takenAtMillis":1795     | "takenAtMillis":-1795    | takenAtMillis -1795
            "sha256":"0              | "sha256":"x              | sha256 x123
            "sha256":"0              | "sha256":"               | sha256 123
            /doc/                    | /dog/                    | key snapshots/dog
            "nextSequence":30        | "nextSequence":-30       | tombstone's nextSequence -30
            "deletedAtMillis":1      | "deletedAtMillis":-1     | deletedAtMillis -1
            "name":"doc"             | "name":"dog"             | in Base64 'doc'
            "nameBase64":"ZG9j"      | "nameBase64":""          | 1 to 1024 bytes
            "nameBase64":"ZG9j"      | "nameBase64":"Z"         | document 'doc'
            "store":"0               | "store":"                | identity of a store
            "store":"00112233        | "store":"x               | document 'doc'
            "incarnation":"8         | "incarnation":"+         | 16 hexadecimal digits
            "epoch":3                | "epoch":3,"more":1       | more
            "epoch":3                | "epoch":3,"epoch":3      | epoch
            "epoch":3                | "epoch":"3"              | JSON is wrong
            "epoch":3                | "epoch":3.5              | JSON is wrong
            "epoch":3                | "epoch":null             | JSON is wrong
            "epoch":3                | "epoch":1e99             | JSON is wrong
            "epoch":3,               | "epoch":99999999999999999999999, | JSON is wrong
            "epoch":3,               | ~~                       | JSON is wrong
            "name":"doc"             | "name":null              | JSON is wrong
            "generations":[          | "generations":[null,     | JSON is wrong
            "generations":[          | "generations":[7,        | JSON is wrong
            """)
    void rejectsInvalidFields(String part, String by, String problem) {
        String sound = json(manifest(DocumentName.of("doc")));
        assertThat(sound).contains(part);
        assertRejected(sealed(sound.replaceFirst(Pattern.quote(part), by)), Reason.CORRUPT, problem);
    }

    @Test
    void rejectsManifestOverSizeLimit() {
        assertRejected(new byte[Manifest.MAX_BYTES + 1], Reason.CORRUPT, "the maximum is 16777216");
    }

    @Test
    void doesNotEncodeInvalidManifest() {
        DocumentName name = DocumentName.of("doc");
        assertThatIllegalArgumentException()
                .isThrownBy(
                        () -> new Manifest(Snapshots.STORE, name, 1, 3, List.of(generation(name, 4)), null).encode())
                .withMessageContaining("last generation 3");
    }
}
