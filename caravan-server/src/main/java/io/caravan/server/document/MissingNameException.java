package io.caravan.server.document;

import io.caravan.catalog.DocumentName;

/** A change needs a document that the edit was not opened for: it is made again, with that one. */
final class MissingNameException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final transient DocumentName name;

    MissingNameException(DocumentName name) {
        super(name.toString(), null, false, false);
        this.name = name;
    }

    DocumentName name() {
        return name;
    }
}
