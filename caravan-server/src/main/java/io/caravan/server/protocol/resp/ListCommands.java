package io.caravan.server.protocol.resp;

import static io.caravan.server.protocol.resp.CommandSpec.Keys.FIRST;
import static io.caravan.server.protocol.resp.CommandSpec.list;

import io.caravan.catalog.DocumentName;
import io.caravan.server.document.DocumentInfo;
import io.caravan.server.document.DocumentService;
import io.caravan.server.document.EditedDocument;
import io.caravan.server.document.SequenceRange;
import io.caravan.server.protocol.resp.codec.Command;
import io.caravan.server.protocol.resp.codec.CommandException;
import io.caravan.server.protocol.resp.codec.Reply;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The list commands of Redis. {@link KeyExistence} explains the treatment of documents without values. */
public record ListCommands(DocumentService documents) {
    public List<CommandSpec> all() {
        return List.of(
                list("RPUSH", -3, FIRST, "denyoom fast", "Appends values to a document, all or none.")
                        .write((session, command) -> append(command, document -> true)),
                list("RPUSHX", -3, FIRST, "denyoom fast", "Appends values to a document that has values.")
                        .write((session, command) ->
                                append(command, document -> KeyExistence.of(document::info) != null)),
                list("LTRIM", 4, FIRST, "", "Trims the values before a range.").write(this::trim),
                list("LRANGE", 4, FIRST, "", "Returns the values of a range.")
                        .inTransaction(this::rangeInTransaction)
                        .stream(this::range),
                list("LINDEX", 3, FIRST, "", "Returns one value.")
                        .inTransaction(this::indexInTransaction)
                        .read(this::index),
                list("LLEN", 2, FIRST, "fast", "Returns the number of values.")
                        .lookup(documents, ListCommands::length));
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
            DocumentInfo info = KeyExistence.of(document::info);
            if (info != null) {
                KeyExistence.trim(document, info, info.firstSequence() + range.headTrim(info.count()));
            }
            return Reply.OK;
        });
    }

    static Reply one(List<byte[]> values) {
        return Reply.of(values.isEmpty() ? null : values.get(0));
    }

    static Reply bulks(List<byte[]> values) {
        return new Reply.Array(values.stream().map(Reply.Bulk::new).toList());
    }

    private Change rangeInTransaction(Session session, Command command) {
        IndexRange range = IndexRange.of(command);
        return Change.of(name(command), document -> bulks(values(document, range)));
    }

    private Change indexInTransaction(Session session, Command command) {
        IndexRange range = new IndexRange(command.number(2), command.number(2));
        return Change.of(name(command), document -> one(values(document, range)));
    }

    private static List<byte[]> values(EditedDocument document, IndexRange range) {
        DocumentInfo info = document.info();
        return info == null ? List.of() : document.values(range.within(info));
    }

    private static Reply length(Command command, Function<DocumentName, @Nullable DocumentInfo> documents) {
        return new Reply.Number(count(documents.apply(name(command))));
    }

    private static long count(@Nullable DocumentInfo info) {
        return info == null ? 0 : info.count();
    }

    private Reply index(Session session, Command command) {
        long index = command.number(2);
        return Reply.of(documents.value(name(command), new IndexRange(index, index)::within));
    }

    private ResumableRead range(Command command, ResumableRead.Context context) {
        IndexRange range = IndexRange.of(command);
        return new ValueStream(documents, name(command), range::within, ValueStream.Format.VALUES, context);
    }

    public static DocumentName name(Command command) {
        return DocumentName.of(command.word(1));
    }

    /**
     * A range of positions in a list, as in Redis. Positions count from 0, or, if negative, from the end (-1 is the
     * last value). Positions outside of the list are ignored.
     *
     * @param start the first position
     * @param stop the last position, inclusive
     */
    record IndexRange(long start, long stop) {
        private static final int START_WORD = 2;
        private static final int STOP_WORD = 3;

        static IndexRange of(Command command) {
            return new IndexRange(command.number(START_WORD), command.number(STOP_WORD));
        }

        private long first(long length) {
            return start < 0 ? Math.max(0, length + start) : start;
        }

        private long last(long length) {
            return Math.min(length - 1, stop < 0 ? length + stop : stop);
        }

        SequenceRange within(DocumentInfo info) {
            return within(info.firstSequence(), info.nextSequence());
        }

        /** Returns the sequences that the range selects in a list with these first and next sequences. */
        SequenceRange within(long firstSequence, long nextSequence) {
            long length = nextSequence - firstSequence;
            long first = first(length);
            long last = last(length);
            return first > last
                    ? SequenceRange.EMPTY
                    : new SequenceRange(firstSequence + first, firstSequence + last + 1);
        }

        /**
         * Returns the number of values to trim from the head of a list of this length so that only the range remains.
         * Throws a {@link CommandException} if values at the tail would have to be removed.
         */
        long headTrim(long length) {
            long first = first(length);
            long last = last(length);
            if (first > last) {
                return length;
            }
            if (last < length - 1) {
                throw new CommandException(
                        "ERR LTRIM can only trim values from the head: the range must end with the last"
                                + " value, as in LTRIM key " + start + " -1");
            }
            return first;
        }
    }
}
