package io.caravan.server.archive.push;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.ListStore;
import io.caravan.server.archive.format.ArchiveRoot;
import io.caravan.server.document.space.DocumentDurability;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the records that a store keeps about its claims to an archive. */
class ArchiveBindingTest {
    /**
     * URLs of the same archive must compare as equal. Otherwise, a superseded store would treat the archive as new and
     * take it back.
     */
    @ParameterizedTest
    @CsvSource({
        "s3://bucket/prefix, s3://bucket/prefix/",
        "file:/a/archive, file:///a/archive",
        "file:/a/archive/, file:/a/b/../archive",
        "file:archive, file:./archive"
    })
    void recognizesEquivalentArchiveUrls(String url, String other) {
        try (ListStore store = ListStore.inMemory()) {
            new ArchiveBinding(store, DocumentDurability.SYNC, url, false).claiming("", "owner 1");
            assertThat(new ArchiveBinding(store, DocumentDurability.SYNC, other, false).claiming("owner 2", "owner 3"))
                    .isFalse();
            assertThat(new ArchiveBinding(store, DocumentDurability.SYNC, url + "2", false)
                            .claiming("owner 2", "owner 3"))
                    .as("another archive")
                    .isTrue();
        }
    }

    /** A store must remember the previous owner after failed claims, or its next claim would report a takeover. */
    @Test
    void expectsPreviousOwnerAfterRepeatedFailedClaims() {
        try (ListStore store = ListStore.inMemory()) {
            ArchiveBinding marked = new ArchiveBinding(store, DocumentDurability.SYNC, "s3://bucket", false);
            marked.claiming("", "owner 1");
            for (int attempt = 0; attempt < 100; attempt++) {
                assertThat(marked.claiming("owner 1", "attempt " + attempt))
                        .as("attempt " + attempt)
                        .isTrue();
            }
            assertThat(marked.claiming("somebody else", "attempt 100")).isFalse();
            assertThat(marked.claiming("attempt 100", "attempt 101"))
                    .as("the rejected attempt is not recorded")
                    .isFalse();
            assertThat(marked.claiming("attempt 99", "attempt 101")).isTrue();
        }
    }

    /** A store copy made during a claim must not be trusted, although it already knows the new owner's name. */
    @Test
    void copyMadeDuringClaimIsNotTrusted() {
        try (ListStore store = ListStore.inMemory()) {
            ArchiveBinding first = binding(store);
            first.claiming("", "owner 1");
            first.claimed(root(1));
            first.stopped(root(1));
            ArchiveBinding second = binding(store);
            second.claiming("owner 1", "owner 2");
            ArchiveBinding copy = binding(store);
            copy.claiming("owner 2", "owner 3");

            assertThat(copy.claimed(root(3))).isFalse();
        }
    }

    @Test
    void storeIsTrustedAfterCleanStopEvenIfClaimIsRepeated() {
        try (ListStore store = ListStore.inMemory()) {
            ArchiveBinding first = binding(store);
            first.claiming("", "owner 1");
            assertThat(first.claimed(root(1))).as("a new archive").isFalse();
            first.stopped(root(1));
            ArchiveBinding second = binding(store);
            second.claiming("owner 1", "failed attempt");
            second.claiming("owner 1", "owner 2");

            assertThat(second.claimed(root(2))).isTrue();
        }
    }

    @Test
    void lateStopDoesNotReplaceLaterClaim() {
        try (ListStore store = ListStore.inMemory()) {
            ArchiveBinding first = binding(store);
            first.claiming("", "owner 1");
            first.claimed(root(1));
            ArchiveBinding second = binding(store);
            second.claiming("owner 1", "owner 2");
            second.claimed(root(2));
            first.stopped(root(1));

            assertThat(binding(store).claiming("owner 2", "owner 3")).isTrue();
        }
    }

    private static ArchiveBinding binding(ListStore store) {
        return new ArchiveBinding(store, DocumentDurability.SYNC, "s3://bucket", false);
    }

    private static ArchiveRoot root(long epoch) {
        return new ArchiveRoot(new UUID(1, 1), epoch, "owner " + epoch, 0);
    }
}
