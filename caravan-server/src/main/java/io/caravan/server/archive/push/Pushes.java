package io.caravan.server.archive.push;

import io.caravan.server.archive.Archive;
import io.caravan.server.document.DocumentService;
import java.time.InstantSource;
import java.util.function.LongSupplier;

/**
 * What can be done to an archive that is claimed.
 *
 * @param archive the archive
 * @param documents archives a document
 * @param deletions archives a deletion
 */
record Pushes(Archive archive, DocumentPush documents, DeletionPush deletions) {

    static Pushes to(
            Archive archive, DocumentService documents, Survey survey, InstantSource clock, LongSupplier random) {
        return new Pushes(
                archive,
                new DocumentPush(documents, archive, survey, clock, random),
                new DeletionPush(documents, archive));
    }
}
