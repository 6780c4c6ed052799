package io.caravan.server.document;

import io.caravan.catalog.DocumentName;

/** Thrown when the document has moved to another server. */
public final class MovedException extends DocumentException {
    private static final long serialVersionUID = 1L;

    private final transient Whereabouts to;

    MovedException(DocumentName name, Whereabouts to) {
        super(Reason.MOVED, name, "has been moved to " + to);
        this.to = to;
    }

    public Whereabouts to() {
        return to;
    }
}
