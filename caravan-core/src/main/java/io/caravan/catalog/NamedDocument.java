package io.caravan.catalog;

/** A document of the catalog at one moment, with its name. */
public record NamedDocument(DocumentName name, DocumentState state) {}
