package io.caravan.server.protocol.resp;

import io.caravan.catalog.DocumentName;
import io.caravan.server.document.DocumentEdits;
import io.caravan.server.document.EditedDocument;
import io.caravan.server.protocol.resp.ReplyQueue.PendingReply;
import java.util.Collection;
import java.util.function.Function;

/** The operation that a command performs. The type of the operation determines the threads on which it runs. */
sealed interface Action {

    /** Replies immediately, on the event loop. */
    @FunctionalInterface
    non-sealed interface Immediate extends Action {
        Reply run(Session session, Command command);

        /** Returns a read that replies in a single turn. */
        default Read inOneTurn() {
            return place -> () -> {
                // Earlier reads may have waited for a long time.
                place.session.requireStillKnown();
                place.complete(run(place.session, place.command()));
                return true;
            };
        }
    }

    /**
     * Writes to documents, atomically by itself or together with the other writes of a transaction. The write is
     * applied immediately, and acknowledged when it is durable.
     */
    @FunctionalInterface
    non-sealed interface Write extends Action {
        /**
         * Parses the command without access to documents. An exception becomes the error reply. Called once for each
         * command, when the store has space.
         *
         * @param names the documents that the command names
         * @return makes the changes within a write to at least these documents, and returns the reply. May be called
         *     several times; only the last call takes effect
         */
        Function<DocumentEdits, Reply> prepare(Session session, Command command, Collection<DocumentName> names);
    }

    /** Writes to the only document that the command names. */
    @FunctionalInterface
    interface Edit {
        Function<EditedDocument, Reply> prepare(Session session, Command command);
    }

    /** Reads from the store on reading threads, in several turns if the read must wait. */
    @FunctionalInterface
    non-sealed interface Read extends Action {
        ResumableRead start(PendingReply place);
    }
}
