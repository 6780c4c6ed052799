package io.caravan.server.document;

import io.caravan.catalog.DocumentName;
import java.util.List;

/**
 * Some of the documents of a server.
 *
 * @param next where to continue, 0 when these were the last
 * @param documents in no order
 */
public record ScanPage(long next, List<Found> documents) {

    /** A document and its name. */
    public record Found(DocumentName name, DocumentInfo info) {}
}
