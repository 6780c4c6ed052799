package io.caravan.server.protocol.resp;

import io.caravan.catalog.DocumentName;
import io.caravan.server.document.DocumentInfo;
import io.caravan.server.protocol.resp.codec.Command;
import io.caravan.server.protocol.resp.codec.Reply;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The operation that a command performs. The type of the operation determines the threads on which it runs. */
public sealed interface Action {

    /** Replies immediately, on the event loop. */
    @FunctionalInterface
    non-sealed interface Immediate extends Action {
        Reply run(Session session, Command command);
    }

    /** Writes to documents. The write is applied immediately, and acknowledged when it is durable. */
    @FunctionalInterface
    non-sealed interface Write extends Action {
        /**
         * Parses the command without access to documents. An exception becomes the error reply. Called once for each
         * command, when the store has space.
         */
        Change prepare(Session session, Command command);
    }

    /** Reads from the store on a reading thread, in a single turn. */
    @FunctionalInterface
    non-sealed interface Read extends Action {
        Reply run(Session session, Command command);
    }

    /** Reads from the store on reading threads, in several turns if the read must wait. */
    @FunctionalInterface
    non-sealed interface Stream extends Action {
        ResumableRead start(Command command, ResumableRead.Context context);
    }

    /** Reads the state of documents, but no values, in the store or in a transaction. */
    @FunctionalInterface
    interface Lookup {
        /**
         * Returns the reply to the command. The function finds a document, or returns null if it does not exist; it
         * throws {@link io.caravan.server.document.DocumentException} if the document is not visible.
         */
        Reply reply(Command command, Function<DocumentName, @Nullable DocumentInfo> documents);
    }
}
