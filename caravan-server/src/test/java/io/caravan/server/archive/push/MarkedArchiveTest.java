package io.caravan.server.archive.push;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.ListStore;
import io.caravan.MemoryListStore;
import org.junit.jupiter.api.Test;

/** What a store remembers of its claims. */
class MarkedArchiveTest {
    /** Otherwise the next claim would report that another owner has taken the archive over. */
    @Test
    void theOwnerThatWasFoundIsExpectedHoweverOftenAClaimFails() {
        try (ListStore store = new MemoryListStore()) {
            MarkedArchive marked = new MarkedArchive(store, "s3://bucket", false);
            marked.claiming(null, "owner 1");
            for (int attempt = 0; attempt < 100; attempt++) {
                assertThat(marked.expects("owner 1")).as("attempt " + attempt).isTrue();
                marked.claiming("owner 1", "attempt " + attempt);
            }
            assertThat(marked.expects("attempt 99")).isTrue();
            assertThat(marked.expects("somebody else")).isFalse();
        }
    }
}
