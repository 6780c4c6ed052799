package io.caravan.server.protocol.resp;

import static io.caravan.server.protocol.resp.CommandSpec.Keys.FIRST;
import static io.caravan.server.protocol.resp.CommandSpec.list;

import io.caravan.catalog.DocumentName;
import io.caravan.server.document.DocumentEdits;
import io.caravan.server.document.DocumentInfo;
import io.caravan.server.document.DocumentService;
import io.caravan.server.document.EditedDocument;
import io.caravan.server.document.SequenceRange;
import io.caravan.server.protocol.resp.CommandSpec.Access;
import io.caravan.server.protocol.resp.codec.Command;
import io.caravan.server.protocol.resp.codec.CommandException;
import io.caravan.server.protocol.resp.codec.Reply;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * The Redis commands that remove the oldest values of a list. A single write reads and removes the values.
 *
 * @param maxBytes maximum memory of the values of one write
 * @param queues the clients that wait for values
 */
record PopCommands(DocumentService documents, Executor readers, long maxBytes, PopQueues queues) {
    public List<CommandSpec> all() {
        return List.of(
                list("LPOP", -2, FIRST, "fast", "Removes and returns the oldest values.")
                        .access(Access.READ_AND_WRITE)
                        .write(PopCommands::pop),
                list(
                                "BLPOP",
                                -3,
                                BlockingPop.KEYS,
                                "write blocking",
                                "Removes and returns the oldest value of the first document that has one; waits for it.")
                        .inTransaction(PopCommands::popNow)
                        .access(Access.READ_AND_WRITE)
                        .waitingInTurns((command, context) -> new BlockingPop(this, command, context)));
    }

    private static Change pop(Session session, Command command) {
        if (command.size() > 3) {
            throw CommandException.wrongArity("lpop");
        }
        boolean single = command.size() == 2;
        long count = single ? 1 : command.count(2);
        return Change.of(ListCommands.name(command), document -> {
            DocumentInfo info = document.info();
            if (info == null || info.count() == 0) {
                return single ? Reply.Null.BULK : Reply.Null.ARRAY;
            }
            List<byte[]> values = take(document, info, count);
            return single ? ListCommands.one(values) : ListCommands.bulks(values);
        });
    }

    private static Change popNow(Session session, Command command) {
        BlockingPop.timeoutMillis(command);
        List<DocumentName> names = BlockingPop.names(command);
        return new Change(names, edits -> {
            Reply taken = takeFirst(names, edits);
            return taken == null ? Reply.Null.ARRAY : taken;
        });
    }

    /**
     * Removes the oldest value of the first document that has values. Returns the name and the value, or null if no
     * document has values.
     */
    static @Nullable Reply takeFirst(Collection<DocumentName> names, DocumentEdits edits) {
        for (DocumentName name : names) {
            EditedDocument document = edits.document(name);
            DocumentInfo info = KeyExistence.of(document::info);
            if (info != null) {
                return Reply.Array.of(name.toBytes(), ListCommands.one(take(document, info, 1)));
            }
        }
        return null;
    }

    private static List<byte[]> take(EditedDocument document, DocumentInfo info, long count) {
        long end = info.firstSequence() + Math.min(count, info.count());
        List<byte[]> values = document.values(new SequenceRange(info.firstSequence(), end));
        if (count > 0) {
            KeyExistence.trim(document, info, end);
        }
        return values;
    }
}
