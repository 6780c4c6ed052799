package io.caravan.server.protocol.resp.commands;

import static io.caravan.server.protocol.resp.dispatch.CommandSpec.Keys.FIRST;

import io.caravan.catalog.DocumentName;
import io.caravan.server.document.DocumentInfo;
import io.caravan.server.document.DocumentReader;
import io.caravan.server.document.DocumentService;
import io.caravan.server.document.EditedDocument;
import io.caravan.server.document.SequenceRange;
import io.caravan.server.protocol.resp.codec.Command;
import io.caravan.server.protocol.resp.codec.CommandException;
import io.caravan.server.protocol.resp.codec.Reply;
import io.caravan.server.protocol.resp.codec.ValueFormat;
import io.caravan.server.protocol.resp.dispatch.Action.Lookup;
import io.caravan.server.protocol.resp.dispatch.Change;
import io.caravan.server.protocol.resp.dispatch.CommandSpec;
import io.caravan.server.protocol.resp.dispatch.Reading;
import io.caravan.server.protocol.resp.dispatch.Session;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Redis's list commands over documents; see {@link Presence} for documents without values. */
public final class ListCommands {
    private final DocumentService documents;

    public ListCommands(DocumentService documents) {
        this.documents = documents;
    }

    public List<CommandSpec> all() {
        return List.of(
                CommandSpec.list("RPUSH", -3, "Appends values to a document, all or none.")
                        .keys(FIRST)
                        .flags("denyoom", "fast")
                        .write(this::push),
                CommandSpec.list("RPUSHX", -3, "Appends values to a document that holds some.")
                        .keys(FIRST)
                        .flags("denyoom", "fast")
                        .write(this::pushIfPresent),
                CommandSpec.list("LPOP", -2, "Removes and returns the oldest values.")
                        .keys(FIRST)
                        .flags("fast")
                        .take(this::pop),
                CommandSpec.list("LTRIM", 4, "Drops the values before a range.")
                        .keys(FIRST)
                        .write(this::trim),
                CommandSpec.list("LRANGE", 4, "Returns the values of a range.")
                        .keys(FIRST)
                        .inTransaction(this::rangeInTransaction)
                        .stream(this::range),
                CommandSpec.list("LINDEX", 3, "Returns one value.")
                        .keys(FIRST)
                        .inTransaction(this::indexInTransaction)
                        .read(this::index),
                CommandSpec.list("LLEN", 2, "Returns the number of values.")
                        .keys(FIRST)
                        .flags("fast")
                        .lookup(documents, ListCommands::length));
    }

    private Change push(Session session, Command command) {
        return append(command, document -> true);
    }

    private Change pushIfPresent(Session session, Command command) {
        return append(command, document -> Presence.of(document) != null);
    }

    private static Change append(Command command, Function<EditedDocument, Boolean> condition) {
        List<byte[]> values = command.wordsFrom(2);
        return Change.of(name(command), document -> {
            if (!condition.apply(document)) {
                return new Reply.Number(0);
            }
            document.append(values);
            return new Reply.Number(count(document.info()));
        });
    }

    private Change trim(Session session, Command command) {
        IndexRange range = IndexRange.of(command);
        return Change.of(name(command), document -> {
            DocumentInfo info = Presence.of(document);
            if (info != null) {
                Presence.trim(document, info, info.firstSequence() + range.headTrim(info.count()));
            }
            return Reply.OK;
        });
    }

    /** A value is read before it is dropped: by itself, and as part of a transaction. */
    private Change pop(Session session, Command command) {
        if (command.size() > 3) {
            throw CommandException.wrongArity("lpop");
        }
        boolean single = command.size() == 2;
        long count = single ? 1 : command.count(2);
        return Change.of(name(command), document -> {
            DocumentInfo info = document.info();
            if (info == null || info.count() == 0) {
                return single ? Reply.Null.BULK : Reply.Null.ARRAY;
            }
            long end = info.firstSequence() + Math.min(count, info.count());
            List<byte[]> values = document.values(new SequenceRange(info.firstSequence(), end));
            if (count > 0) {
                Presence.trim(document, info, end);
            }
            return single ? one(values) : new Reply.Values(values);
        });
    }

    private static Reply one(List<byte[]> values) {
        return values.isEmpty() ? Reply.Null.BULK : new Reply.Bulk(values.get(0));
    }

    private Change rangeInTransaction(Session session, Command command) {
        IndexRange range = IndexRange.of(command);
        return Change.of(name(command), document -> new Reply.Values(values(document, range)));
    }

    private Change indexInTransaction(Session session, Command command) {
        IndexRange range = new IndexRange(command.number(2), command.number(2));
        return Change.of(name(command), document -> one(values(document, range)));
    }

    private static List<byte[]> values(EditedDocument document, IndexRange range) {
        DocumentInfo info = document.info();
        return info == null ? List.of() : document.values(range.within(info.firstSequence(), info.nextSequence()));
    }

    private static Reply length(Command command, Lookup.Finder documents) {
        return new Reply.Number(count(documents.find(name(command))));
    }

    private static long count(@Nullable DocumentInfo info) {
        return info == null ? 0 : info.count();
    }

    private Reply index(Session session, Command command) {
        long index = command.number(2);
        OneValue found = new OneValue();
        documents.read(name(command), info -> at(index, info), found);
        return found.reply;
    }

    private static SequenceRange at(long index, DocumentInfo info) {
        return new IndexRange(index, index).within(info.firstSequence(), info.nextSequence());
    }

    private Reading range(Session session, Command command, Reading.Context context) {
        IndexRange range = IndexRange.of(command);
        return new ValueStream(
                documents,
                name(command),
                info -> range.within(info.firstSequence(), info.nextSequence()),
                ValueFormat.VALUES,
                context);
    }

    public static DocumentName name(Command command) {
        return DocumentName.of(command.word(1));
    }

    /** Keeps the one value of a range. */
    private static final class OneValue implements DocumentReader {
        private Reply reply = Reply.Null.BULK;

        @Override
        public void begin(long count) {}

        @Override
        public boolean next(long sequence, ByteBuffer value) {
            byte[] bytes = new byte[value.remaining()];
            value.get(bytes);
            reply = new Reply.Bulk(bytes);
            return false;
        }
    }
}
