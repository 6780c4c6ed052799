package io.caravan.server.protocol.resp;

import io.caravan.catalog.DocumentName;
import io.caravan.server.document.DocumentEdits;
import io.caravan.server.document.EditedDocument;
import io.caravan.server.protocol.resp.codec.Reply;
import java.util.Collection;
import java.util.Set;
import java.util.function.Function;

/**
 * A command's write to documents. The write is atomic, by itself or together with the other writes of a transaction.
 *
 * @param names the documents that the command reads and changes
 * @param edit makes the changes within a write to at least these documents, and returns the reply. May be called
 *     several times; only the last call takes effect
 */
public record Change(Collection<DocumentName> names, Function<DocumentEdits, Reply> edit) {

    /** Creates a write to one document. */
    public static Change of(DocumentName name, Function<EditedDocument, Reply> edit) {
        return new Change(Set.of(name), edits -> edit.apply(edits.document(name)));
    }
}
