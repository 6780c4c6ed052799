package io.caravan.server.document;

import io.caravan.catalog.DocumentName;
import java.util.List;

/**
 * One page of a scan of the documents.
 *
 * @param next the cursor of the next page; 0 if this is the last one
 * @param documents the documents, in no particular order
 */
public record ScanPage(long next, List<Found> documents) {

    public record Found(DocumentName name, DocumentInfo info) {}
}
