package io.caravan.server.document;

import io.caravan.catalog.DocumentName;

/** Thrown when the document has moved to another server. */
public final class MovedException extends DocumentException {
    private static final long serialVersionUID = 1L;

    private final transient RedirectTarget to;

    MovedException(DocumentName name, RedirectTarget to) {
        super(Reason.MOVED, name, "has been moved to " + to);
        this.to = to;
    }

    public RedirectTarget to() {
        return to;
    }
}
