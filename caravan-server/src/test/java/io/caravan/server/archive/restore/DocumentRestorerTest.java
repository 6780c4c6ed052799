package io.caravan.server.archive.restore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.caravan.catalog.Attributes;
import io.caravan.catalog.DocumentName;
import io.caravan.server.archive.format.ArchiveException;
import io.caravan.server.archive.format.ArchiveException.Reason;
import io.caravan.server.archive.format.Generation;
import io.caravan.server.archive.format.Manifest;
import io.caravan.server.archive.format.Manifest.Tombstone;
import io.caravan.server.archive.restore.DocumentRestorer.Source;
import io.caravan.server.document.ArchiveMark;
import io.caravan.server.document.DocumentAttributes;
import io.caravan.server.document.DocumentInfo;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Tests the rules for restores, with one test for each row of the table in {@link DocumentRestorer}. */
class DocumentRestorerTest {
    private static final boolean CHOSEN = true;
    private static final boolean DELETED = true;
    private static final Generation OLD = generation(1, 0, 10);
    private static final Generation LATEST = generation(2, 5, 20);

    private static Generation generation(long number, long first, long next) {
        return new Generation(number, "snapshots/a/" + number, 7, 1, first, next, 0, 100, 200, "00");
    }

    private static Manifest manifest(@Nullable Tombstone tombstone) {
        return new Manifest(new UUID(1, 2), DocumentName.of("a"), 1, 2, List.of(OLD, LATEST), tombstone);
    }

    private static final Manifest THERE = manifest(null);
    private static final Manifest TOMBSTONED = manifest(new Tombstone(7, 20, 0));

    private static DocumentInfo local(long incarnation, long first, long next) {
        DocumentAttributes attributes =
                DocumentAttributes.NONE.withArchived(new ArchiveMark(incarnation, 1, 0, 10, 0, 0));
        return new DocumentInfo(1, first, next, attributes);
    }

    private static void assertRejected(
            Reason reason, String why, Manifest manifest, Generation generation, boolean chosen, DocumentInfo local) {
        assertThatThrownBy(() -> DocumentRestorer.mustAppend(Source.of(manifest, generation, chosen), chosen, local))
                .isInstanceOfSatisfying(
                        ArchiveException.class,
                        rejected -> assertThat(rejected.reason()).isEqualTo(reason))
                .hasMessageContaining("document 'a' ")
                .hasMessageContaining(why);
    }

    @Test
    void createsMissingDocument() {
        DocumentRestorer.requireNotDeleted(THERE, !CHOSEN, !DELETED, null);
        DocumentRestorer.requireNotDeleted(THERE, CHOSEN, !DELETED, null);
    }

    @Test
    void createsDeletedDocumentOnlyFromChosenGeneration() {
        assertThatThrownBy(() -> DocumentRestorer.requireNotDeleted(TOMBSTONED, !CHOSEN, !DELETED, null))
                .isInstanceOfSatisfying(
                        ArchiveException.class,
                        rejected -> assertThat(rejected.reason()).isEqualTo(Reason.DELETED))
                .hasMessageContaining("document 'a' ")
                .hasMessageContaining("generation 2 (sequences 5 to 20, of 1970");
        assertThatThrownBy(() -> DocumentRestorer.requireNotDeleted(THERE, !CHOSEN, DELETED, null))
                .hasMessageContaining("was deleted");
        DocumentRestorer.requireNotDeleted(TOMBSTONED, CHOSEN, !DELETED, null);
        DocumentRestorer.requireNotDeleted(THERE, CHOSEN, DELETED, null);
    }

    @Test
    void rejectsOtherDocumentOfSameName() {
        assertRejected(
                Reason.DIVERGED,
                "another document of that name; restore it under",
                THERE,
                LATEST,
                !CHOSEN,
                local(8, 0, 3));
        DocumentInfo neverArchived = new DocumentInfo(1, 0, 3, DocumentAttributes.NONE);
        assertRejected(Reason.DIVERGED, "another document of that name", THERE, LATEST, CHOSEN, neverArchived);
    }

    @Test
    void upToDateDocumentRejectsOnlyChosenGeneration() {
        assertThat(DocumentRestorer.mustAppend(Source.of(THERE, LATEST, false), !CHOSEN, local(7, 5, 20)))
                .isFalse();
        assertThat(DocumentRestorer.mustAppend(Source.of(THERE, LATEST, false), !CHOSEN, local(7, 19, 25)))
                .isFalse();
        assertRejected(
                Reason.DIVERGED,
                "ends at sequence 20 in this store, and generation 1 ends at 10",
                THERE,
                OLD,
                CHOSEN,
                local(7, 5, 20));
        assertRejected(Reason.DIVERGED, "would go back in time", THERE, LATEST, CHOSEN, local(7, 5, 20));
    }

    @Test
    void appendsMissingValuesAtEnd() {
        assertThat(DocumentRestorer.mustAppend(Source.of(THERE, LATEST, false), !CHOSEN, local(7, 0, 10)))
                .isTrue();
        assertThat(DocumentRestorer.mustAppend(Source.of(THERE, LATEST, false), CHOSEN, local(7, 0, 5)))
                .isTrue();
    }

    @Test
    void rejectsGapBeforeGeneration() {
        assertRejected(
                Reason.DIVERGED,
                "ends at sequence 4 in this store, and generation 2 begins at 5",
                THERE,
                LATEST,
                !CHOSEN,
                local(7, 0, 4));
    }

    @Test
    void rejectsAppendToClosedDocument() {
        DocumentInfo open = local(7, 0, 10);
        DocumentAttributes closed = DocumentAttributes.of(Attributes.EMPTY.with("closed", new byte[0]));
        DocumentAttributes marked = closed.withArchived(open.attributes().archived());
        assertRejected(
                Reason.DIVERGED,
                "was closed at sequence 10 in this store",
                THERE,
                LATEST,
                !CHOSEN,
                new DocumentInfo(1, 0, 10, marked));
    }
}
