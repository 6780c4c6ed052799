package io.caravan.server.cli.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.catalog.DocumentName;
import io.caravan.server.cli.store.StorePrinter.RecentNames;
import org.junit.jupiter.api.Test;

class RecentNamesTest {
    @Test
    void keepsRecentlyUsedNames() {
        RecentNames names = new RecentNames();
        for (long id = 1; id <= 100_000; id++) {
            names.put(id, DocumentName.of("document " + id));
            assertThat(names.get(1L)).isEqualTo(DocumentName.of("document 1"));
        }
        assertThat(names).hasSizeLessThan(100_000).doesNotContainKey(2L).containsKey(100_000L);
    }
}
