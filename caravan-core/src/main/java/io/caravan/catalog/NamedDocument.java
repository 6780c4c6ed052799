package io.caravan.catalog;

/**
 * A document of the catalog at one moment, with its name.
 *
 * @param name its name
 * @param state what the catalog knows of it
 */
public record NamedDocument(DocumentName name, DocumentState state) {}
