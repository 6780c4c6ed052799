package io.caravan.server.protocol.resp.dispatch;

import io.caravan.catalog.DocumentName;
import io.caravan.server.document.DocumentEdits;
import io.caravan.server.document.DocumentService;
import io.caravan.server.document.EditedDocument;
import io.caravan.server.document.Outcome;
import io.caravan.server.protocol.resp.codec.Reply;
import java.util.Collection;
import java.util.List;
import java.util.function.Function;

/** A command's change of documents: all of it or none, by itself or together with others in a transaction. */
public sealed interface Change {

    /** The documents that it may look at and change. */
    Collection<DocumentName> names();

    /** Makes the change, within one that is open for at least its documents, and tells its answer. */
    Reply apply(DocumentEdits edits);

    /**
     * Makes the change by itself; its answer is told when it is durable. Returns false when it waits for documents that
     * others may have, and is not decided on before it is answered.
     */
    boolean submit(DocumentService documents, Outcome<Reply> outcome);

    /** A change of one document. */
    record OfOne(DocumentName name, Function<EditedDocument, Reply> edit) implements Change {
        @Override
        public Collection<DocumentName> names() {
            return List.of(name);
        }

        @Override
        public Reply apply(DocumentEdits edits) {
            return edit.apply(edits.document(name));
        }

        @Override
        public boolean submit(DocumentService documents, Outcome<Reply> outcome) {
            return documents.write(name, edit, outcome);
        }
    }

    /** A change of several documents, or of none. */
    record OfMany(Collection<DocumentName> names, Function<DocumentEdits, Reply> edit) implements Change {
        @Override
        public Reply apply(DocumentEdits edits) {
            return edit.apply(edits);
        }

        @Override
        public boolean submit(DocumentService documents, Outcome<Reply> outcome) {
            return documents.write(names, edit, outcome);
        }
    }
}
