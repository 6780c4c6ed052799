package io.caravan.server.document;

import io.caravan.catalog.DocumentName;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A description of a document, sent from one server to another.
 *
 * @param first the sequence of the first value
 * @param next the sequence after the last value
 * @param bytes the total length of all values, in bytes; null for a fork, which shares values with its source
 * @param moving whether the document is fenced, or a redirect has replaced it
 * @param identity an identifier that is unique among the documents of all servers
 * @param origin the identity of the document of which this is a copy; null if this is not a copy
 * @param copiedTo the sequence up to which the values were copied from the origin; null if there is no origin
 * @param attributes the attributes by name: each is a {@link Long} or an array of bytes
 */
public record ExportedDocument(
        long id,
        long first,
        long next,
        @Nullable Long bytes,
        boolean moving,
        @Nullable String identity,
        @Nullable String origin,
        @Nullable Long copiedTo,
        Map<String, Object> attributes) {
    public static ExportedDocument of(DocumentService documents, DocumentName name, DocumentInfo info) {
        DocumentAttributes attributes = info.attributes();
        Origin origin = attributes.origin();
        return new ExportedDocument(
                info.id(),
                info.firstSequence(),
                info.nextSequence(),
                attributes.has(DocumentAttributes.FORK) ? null : documents.bytes(name, info),
                attributes.movingTo() != null,
                documents.identity(info),
                origin == null ? null : origin.identity(),
                origin == null ? null : origin.copiedTo(),
                PortableAttributes.of(attributes));
    }
}
