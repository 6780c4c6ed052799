package io.caravan.catalog;

/** The name of a document in the catalog, and the document's state at one moment. */
public record NamedDocument(DocumentName name, DocumentState state) {}
