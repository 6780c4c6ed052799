package io.caravan.server.archive.push;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.server.archive.format.ArchiveException;
import io.caravan.server.archive.format.ArchiveException.Reason;
import io.caravan.server.archive.object.ObjectStoreException;
import io.caravan.server.archive.object.ObjectStoreException.Kind;
import org.junit.jupiter.api.Test;

class FailureTest {
    @Test
    void fullObjectStoreAffectsAllDocumentsAndFullManifestOnlyOne() {
        assertThat(Failure.of(new ObjectStoreException(Kind.FULL, "no space", null))
                        .reach())
                .isEqualTo(Failure.Reach.ALL);
        assertThat(Failure.of(new ArchiveException(Reason.FULL, "no room")).reach())
                .isEqualTo(Failure.Reach.DOCUMENT);
    }
}
