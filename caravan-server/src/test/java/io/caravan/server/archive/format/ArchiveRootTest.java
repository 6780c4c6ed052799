package io.caravan.server.archive.format;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.caravan.catalog.DocumentName;
import io.caravan.server.archive.format.ArchiveException.Reason;
import org.junit.jupiter.api.Test;

class ArchiveRootTest {
    private static final ArchiveRoot ROOT = new ArchiveRoot(Snapshots.STORE, 4, "host \"a\", process 7", 1_795L);

    @Test
    void encodesDocumentedText() {
        assertThat(new String(ROOT.encode(), UTF_8))
                .startsWith("{\"format\":\"caravan-archive\",\"version\":1,"
                        + "\"store\":\"00112233-4455-6677-8899-aabbccddeeff\",\"epoch\":4,"
                        + "\"owner\":\"host \\\"a\\\", process 7\",\"sinceMillis\":1795}\ncrc32c:")
                .endsWith("\n");
    }

    @Test
    void decodesEncodedRoot() {
        assertThat(ArchiveRoot.decode(ROOT.encode(), ArchiveKeys.ROOT)).isEqualTo(ROOT);
    }

    @Test
    void rejectsNegativeEpoch() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new ArchiveRoot(Snapshots.STORE, -1, "", 0))
                .withMessageContaining("epoch -1");
    }

    @Test
    void rejectsManifestAsRoot() {
        byte[] manifest = ManifestTest.manifest(DocumentName.of("doc")).encode();
        assertThatExceptionOfType(ArchiveException.class)
                .isThrownBy(() -> ArchiveRoot.decode(manifest, ArchiveKeys.ROOT))
                .withMessageStartingWith(ArchiveKeys.ROOT)
                .satisfies(rejection -> assertThat(rejection.reason()).isEqualTo(Reason.CORRUPT));
    }
}
