package io.caravan.server.resp;

import io.caravan.CaravanException;
import io.caravan.catalog.DocumentName;
import io.caravan.server.document.DocumentInfo;
import io.caravan.server.document.DocumentService;
import io.caravan.server.document.EditedDocument;
import io.caravan.server.document.Outcome;
import io.netty.channel.Channel;
import java.util.List;
import java.util.function.Function;

/**
 * Redis's list commands over documents.
 *
 * <p>In Redis a list without elements does not exist. A document stays when its last value is trimmed away, and keeps
 * counting its sequences for those who use them; to these commands it then does not exist: {@code LLEN} and {@code EXISTS}
 * tell 0, and {@code DEL}, which removes it all the same, does not count it.
 */
final class ListCommands {
    private final DocumentService documents;

    ListCommands(DocumentService documents) {
        this.documents = documents;
    }

    void push(Command command, PendingReply place) {
        List<byte[]> values = command.wordsFrom(2);
        documents.write(
                name(command),
                document -> {
                    document.append(values);
                    return length(document);
                },
                answer(place, Reply.Number::new));
    }

    private static long length(EditedDocument document) {
        DocumentInfo info = document.info();
        return info == null ? 0 : info.count();
    }

    void trim(Command command, PendingReply place) {
        IndexRange range = IndexRange.of(command);
        documents.write(
                name(command),
                document -> {
                    DocumentInfo info = document.info();
                    if (info != null) {
                        document.trimTo(info.firstSequence() + range.headTrim(info.count()));
                    }
                    return Reply.OK;
                },
                answer(place, Function.identity()));
    }

    void delete(Command command, PendingReply place) {
        List<DocumentName> names = names(command);
        documents.write(
                names,
                edits -> names.stream()
                        .map(edits::document)
                        .filter(ListCommands::deleteHeld)
                        .count(),
                answer(place, Reply.Number::new));
    }

    /** Whether the document that is deleted held values. */
    private static boolean deleteHeld(EditedDocument document) {
        boolean held = length(document) > 0;
        document.delete();
        return held;
    }

    void length(Command command, PendingReply place, Channel channel) {
        place.complete(new Reply.Number(length(name(command))));
    }

    private long length(DocumentName name) {
        DocumentInfo info = documents.find(name);
        return info == null ? 0 : info.count();
    }

    void exists(Command command, PendingReply place, Channel channel) {
        long existing = names(command).stream().filter(name -> length(name) > 0).count();
        place.complete(new Reply.Number(existing));
    }

    void range(Command command, PendingReply place, Channel channel) {
        DocumentName name = name(command);
        IndexRange range = IndexRange.of(command);
        ReplyStream stream = new ReplyStream(channel, place);
        try {
            documents.read(name, info -> range.within(info.firstSequence(), info.nextSequence()), stream);
            stream.finish();
        } catch (CaravanException problem) {
            stream.fail(Errors.reply(problem));
        }
    }

    private static DocumentName name(Command command) {
        return DocumentName.of(command.word(1));
    }

    private static List<DocumentName> names(Command command) {
        return command.wordsFrom(1).stream().map(DocumentName::of).toList();
    }

    private static <T> Outcome<T> answer(PendingReply place, Function<T, Reply> reply) {
        return new Outcome<>() {
            @Override
            public void success(T result) {
                place.complete(reply.apply(result));
            }

            @Override
            public void failure(CaravanException problem) {
                place.complete(Errors.reply(problem));
            }
        };
    }
}
