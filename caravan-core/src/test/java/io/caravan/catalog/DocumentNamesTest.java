package io.caravan.catalog;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

class DocumentNamesTest {
    private static DocumentNames.Entry entry(long id) {
        byte[] name = ("document " + id).getBytes(UTF_8);
        CatalogEntry entry = new CatalogEntry(CatalogEntry.Kind.WITH_LIST, id, id + 1, name, Attributes.EMPTY);
        return DocumentNames.read(ByteBuffer.wrap(entry.encode()));
    }

    @Test
    void keepsRecentlyUsedNames() {
        DocumentNames names = new DocumentNames(10_000);
        names.learn(entry(1));
        for (long id = 2; id < 1_000; id++) {
            names.learn(entry(id));
            assertThat(names.of(1)).isEqualTo(DocumentName.of("document 1"));
        }
        assertThat(names.of(2)).isNull();
        assertThat(names.of(998)).isNotNull();
    }

    @Test
    void readReturnsNullForInvalidEntry() {
        assertThat(DocumentNames.read(ByteBuffer.allocate(0))).isNull();
        assertThat(DocumentNames.read(ByteBuffer.allocate(100))).isNull();
    }
}
