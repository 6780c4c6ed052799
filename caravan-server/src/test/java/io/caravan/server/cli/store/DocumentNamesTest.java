package io.caravan.server.cli.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.catalog.Attributes;
import io.caravan.catalog.CatalogEntry;
import io.caravan.catalog.DocumentName;
import io.caravan.server.cli.store.StorePrinter.DocumentNames;
import org.junit.jupiter.api.Test;

class DocumentNamesTest {
    private static CatalogEntry entry(long id) {
        DocumentName name = DocumentName.of("document " + id);
        return new CatalogEntry(CatalogEntry.Kind.WITH_LIST, id, id + 1, name, Attributes.EMPTY);
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
}
