package io.caravan.server.protocol.resp;

import static io.caravan.server.protocol.resp.CommandSpec.Keys.FIRST;
import static io.caravan.server.protocol.resp.CommandSpec.list;

import io.caravan.catalog.DocumentName;
import io.caravan.server.document.Append;
import io.caravan.server.document.DocumentAttributes;
import io.caravan.server.document.DocumentEdits;
import io.caravan.server.document.DocumentInfo;
import io.caravan.server.document.DocumentService;
import io.caravan.server.document.EditedDocument;
import io.caravan.server.document.SequenceRange;
import io.caravan.server.protocol.resp.BlockingPop.PopQueues;
import io.caravan.server.protocol.resp.ReplyQueue.PendingReply;
import io.caravan.server.security.Permission;
import java.util.Collection;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.Executor;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The list commands of Redis, and Caravan's own commands for values, which address values by their sequences. {@link
 * KeyExistence} explains the treatment of documents without values.
 *
 * @param maxBytes maximum memory of the values that one write removes
 * @param pops the clients that wait for values
 */
record ListCommands(DocumentService documents, Executor readers, long maxBytes, PopQueues pops) {
    private static final int SEQUENCE_WORD = 3;

    List<CommandSpec> all() {
        return List.of(
                list("RPUSH", -3, FIRST, "denyoom fast", "Appends values to a document, all or none.")
                        .write((session, command, names) -> Append.of(
                                names.iterator().next(), command.wordsFrom(2), info -> new Reply.Number(info.count()))),
                list("RPUSHX", -3, FIRST, "denyoom fast", "Appends values to a document that has values.")
                        .edit(ListCommands::appendIfPresent),
                list("LTRIM", 4, FIRST, "", "Trims the values before a range.").edit(ListCommands::trimToRange),
                list("LRANGE", 4, FIRST, "", "Returns the values of a range.")
                        .editInTransaction((session, command) -> {
                            IndexRange range = IndexRange.of(command);
                            return document -> bulks(values(document, range));
                        })
                        .stream(this::range),
                list("LINDEX", 3, FIRST, "", "Returns one value.")
                        .editInTransaction((session, command) -> {
                            IndexRange range = index(command);
                            return document -> one(values(document, range));
                        })
                        .read((session, command) -> Reply.of(documents.value(command.name(), index(command)::within))),
                list("LLEN", 2, FIRST, "fast", "Returns the number of values.")
                        .lookup(documents, document -> new Reply.Number(count(document.get()))),
                list("LPOP", -2, FIRST, "fast", "Removes and returns the oldest values.")
                        .needs(Permission.READ, Permission.WRITE)
                        .edit(ListCommands::pop),
                list(
                                "BLPOP",
                                -3,
                                BlockingPop.KEYS,
                                "write blocking",
                                "Removes and returns the oldest value of the first document that has one; waits for it.")
                        .inTransaction(ListCommands::popNow)
                        .needs(Permission.READ, Permission.WRITE)
                        .waitingInTurns(place -> new BlockingPop(this, place)),
                list(
                                "CARAVAN.APPEND",
                                -5,
                                FIRST,
                                "denyoom fast",
                                "Appends values if the first one gets the expected sequence.")
                        .edit(ListCommands::appendIf),
                list("CARAVAN.READ", -4, FIRST, "blocking", "Returns the values from a sequence on, or waits for them.")
                        .stream(place -> new TailRead(documents, place)),
                list("CARAVAN.TRIM", 4, FIRST, "fast", "Trims the values before a sequence.")
                        .edit(ListCommands::trimTo),
                list("CARAVAN.INFO", 2, FIRST, "fast", "Describes a document.").read(this::info));
    }

    private static Function<EditedDocument, Reply> appendIfPresent(Session session, Command command) {
        List<byte[]> values = command.wordsFrom(2);
        return document -> {
            if (KeyExistence.of(document::info) == null) {
                return new Reply.Number(0);
            }
            document.append(values);
            return new Reply.Number(count(document.info()));
        };
    }

    private static Function<EditedDocument, Reply> trimToRange(Session session, Command command) {
        IndexRange range = IndexRange.of(command);
        return document -> {
            DocumentInfo info = KeyExistence.of(document::info);
            if (info != null) {
                KeyExistence.trim(document, info.firstSequence() + range.headTrim(info.count()));
            }
            return Reply.OK;
        };
    }

    private static Reply one(List<byte[]> values) {
        return Reply.of(values.isEmpty() ? null : values.get(0));
    }

    private static Reply bulks(List<byte[]> values) {
        return new Reply.Array(values.stream().map(Reply.Bulk::new).toList());
    }

    private static IndexRange index(Command command) {
        return new IndexRange(command.number(2), command.number(2));
    }

    private static List<byte[]> values(EditedDocument document, IndexRange range) {
        DocumentInfo info = document.info();
        return info == null ? List.of() : document.values(range.within(info));
    }

    private static long count(@Nullable DocumentInfo info) {
        return info == null ? 0 : info.count();
    }

    private ResumableRead range(PendingReply place) {
        IndexRange range = IndexRange.of(place.command());
        return new ValueStream(documents, place) {
            @Override
            SequenceRange select(DocumentInfo info) {
                return range.within(info);
            }
        };
    }

    private static Function<EditedDocument, Reply> pop(Session session, Command command) {
        if (command.size() > 3) {
            throw CommandException.wrongArity("lpop");
        }
        boolean single = command.size() == 2;
        long count = single ? 1 : command.count(2);
        return document -> {
            DocumentInfo info = document.info();
            if (info == null || info.count() == 0) {
                return single ? Reply.Null.BULK : Reply.Null.ARRAY;
            }
            List<byte[]> values = take(document, info, count);
            return single ? one(values) : bulks(values);
        };
    }

    private static Function<DocumentEdits, Reply> popNow(
            Session session, Command command, Collection<DocumentName> names) {
        BlockingPop.timeoutMillis(command);
        List<DocumentName> distinct = BlockingPop.names(command);
        return edits -> {
            Reply taken = takeFirst(distinct, edits);
            return taken == null ? Reply.Null.ARRAY : taken;
        };
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
                return Reply.Array.of(name.toBytes(), one(take(document, info, 1)));
            }
        }
        return null;
    }

    private static List<byte[]> take(EditedDocument document, DocumentInfo info, long count) {
        long end = info.firstSequence() + Math.min(count, info.count());
        List<byte[]> values = document.values(new SequenceRange(info.firstSequence(), end));
        if (count > 0) {
            KeyExistence.trim(document, end);
        }
        return values;
    }

    private static Function<EditedDocument, Reply> appendIf(Session session, Command command) {
        long expected = sequence(command, "IFSEQ");
        List<byte[]> values = command.wordsFrom(SEQUENCE_WORD + 1);
        return document -> {
            DocumentInfo info = document.info();
            long actual = info == null ? 0 : info.nextSequence();
            if (actual != expected) {
                throw new CommandException("CONFLICT expected " + expected + " actual " + actual);
            }
            return new Reply.Number(document.append(values));
        };
    }

    /** Trims a document. The reply is the document's new first sequence, or null if the document does not exist. */
    private static Function<EditedDocument, Reply> trimTo(Session session, Command command) {
        long first = sequence(command, "TO");
        return document -> {
            document.trimTo(first);
            DocumentInfo info = document.info();
            return info == null ? Reply.Null.BULK : new Reply.Number(info.firstSequence());
        };
    }

    private static long sequence(Command command, String keyword) {
        if (!command.is(2, keyword)) {
            throw CommandException.syntax();
        }
        return command.count(SEQUENCE_WORD);
    }

    private Reply info(Session session, Command command) {
        DocumentName name = command.name();
        DocumentInfo info = documents.find(name);
        if (info == null) {
            return Reply.Null.ARRAY;
        }
        DocumentAttributes attributes = info.attributes();
        return Reply.map(
                "id", info.id(),
                "first", info.firstSequence(),
                "next", info.nextSequence(),
                "values", info.count(),
                "bytes", documents.bytes(name, info),
                "content-type", attributes.contentType(),
                "closed", attributes.closed(),
                "expires-at-ms", orNull(documents.deadlineMillis(info)),
                "ttl-seconds", orNull(attributes.ttlSeconds()),
                "forks", attributes.forks(),
                "moving-to", attributes.movingTo() == null ? null : String.valueOf(attributes.movingTo()),
                "durability", documents.spaces().durability(name).word());
    }

    private static @Nullable Long orNull(OptionalLong number) {
        return number.isPresent() ? number.getAsLong() : null;
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
