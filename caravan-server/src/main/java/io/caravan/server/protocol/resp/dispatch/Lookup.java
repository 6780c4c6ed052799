package io.caravan.server.protocol.resp.dispatch;

import io.caravan.catalog.DocumentName;
import io.caravan.server.document.DocumentInfo;
import io.caravan.server.protocol.resp.codec.Command;
import io.caravan.server.protocol.resp.codec.Reply;
import org.jspecify.annotations.Nullable;

/** A read of what documents are, without their values: of the store's, or of a transaction's. */
@FunctionalInterface
public interface Lookup {
    Reply answer(Command command, Finder documents);

    /** Finds documents. */
    @FunctionalInterface
    interface Finder {
        /**
         * The document, or null when there is none.
         *
         * @throws io.caravan.server.document.DocumentException when it cannot be seen
         */
        @Nullable
        DocumentInfo find(DocumentName name);
    }
}
