package io.caravan.server.protocol.resp.dispatch;

import io.caravan.catalog.DocumentName;
import io.caravan.server.document.DocumentInfo;
import io.caravan.server.protocol.resp.codec.Command;
import io.caravan.server.protocol.resp.codec.Reply;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** What a command does. Each kind says where it runs and how it answers. */
public sealed interface Action {

    /** Answers at once, on the event loop. */
    @FunctionalInterface
    non-sealed interface Immediate extends Action {
        Reply run(Session session, Command command);
    }

    /** Changes documents: is decided on at once, on the event loop, and answered once it is durable. */
    @FunctionalInterface
    non-sealed interface Write extends Action {
        /**
         * Understands the command, without looking at any document. What it throws is the answer. Called once the store
         * has room, and once for each command.
         */
        Change prepare(Session session, Command command);
    }

    /** Reads from the store, on a reading thread, and answers whole. */
    @FunctionalInterface
    non-sealed interface Read extends Action {
        Reply run(Session session, Command command);
    }

    /** Reads from the store, on reading threads, in several turns when it has to wait for something. */
    @FunctionalInterface
    non-sealed interface Stream extends Action {
        Reading start(Session session, Command command, Reading.Context context);
    }

    /** A read of what documents are, without their values: of the store's, or of a transaction's. */
    @FunctionalInterface
    interface Lookup {
        /**
         * Answers the command.
         *
         * @param documents finds a document, or null when there is none; throws {@link
         *     io.caravan.server.document.DocumentException} when it is not visible
         */
        Reply answer(Command command, Function<DocumentName, @Nullable DocumentInfo> documents);
    }
}
