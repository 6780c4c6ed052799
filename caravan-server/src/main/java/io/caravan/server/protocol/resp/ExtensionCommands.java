package io.caravan.server.protocol.resp;

import static io.caravan.server.protocol.resp.CommandSpec.Keys.FIRST;
import static io.caravan.server.protocol.resp.CommandSpec.list;

import io.caravan.catalog.DocumentName;
import io.caravan.server.document.DocumentAttributes;
import io.caravan.server.document.DocumentInfo;
import io.caravan.server.document.DocumentService;
import io.caravan.server.protocol.resp.codec.Command;
import io.caravan.server.protocol.resp.codec.CommandException;
import io.caravan.server.protocol.resp.codec.Reply;
import java.util.List;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/** Caravan's own commands for values. These commands address values by their sequences, which trims do not change. */
public record ExtensionCommands(DocumentService documents) {
    private static final int SEQUENCE_WORD = 3;

    public List<CommandSpec> all() {
        return List.of(
                list(
                                "CARAVAN.APPEND",
                                -5,
                                FIRST,
                                "denyoom fast",
                                "Appends values if the first one gets the expected sequence.")
                        .write(this::append),
                list("CARAVAN.READ", -4, FIRST, "blocking", "Returns the values from a sequence on, or waits for them.")
                        .stream((command, context) -> new TailRead(documents, command, context)),
                list("CARAVAN.TRIM", 4, FIRST, "fast", "Trims the values before a sequence.")
                        .write(this::trim),
                list("CARAVAN.INFO", 2, FIRST, "fast", "Describes a document.").read(this::info));
    }

    private Change append(Session session, Command command) {
        requireKeyword(command, "IFSEQ");
        long expected = command.count(SEQUENCE_WORD);
        List<byte[]> values = command.wordsFrom(SEQUENCE_WORD + 1);
        return Change.of(ListCommands.name(command), document -> {
            DocumentInfo info = document.info();
            long actual = info == null ? 0 : info.nextSequence();
            if (actual != expected) {
                throw new CommandException("CONFLICT expected " + expected + " actual " + actual);
            }
            return new Reply.Number(document.append(values));
        });
    }

    /** Trims a document. The reply is the document's new first sequence, or null if the document does not exist. */
    private Change trim(Session session, Command command) {
        requireKeyword(command, "TO");
        long first = command.count(SEQUENCE_WORD);
        return Change.of(ListCommands.name(command), document -> {
            document.trimTo(first);
            DocumentInfo info = document.info();
            return info == null ? Reply.Null.BULK : new Reply.Number(info.firstSequence());
        });
    }

    private static void requireKeyword(Command command, String keyword) {
        if (!command.is(2, keyword)) {
            throw CommandException.syntax();
        }
    }

    private Reply info(Session session, Command command) {
        DocumentName name = ListCommands.name(command);
        DocumentInfo info = documents.find(name);
        return info == null ? Reply.Null.ARRAY : describe(name, info);
    }

    private Reply describe(DocumentName name, DocumentInfo info) {
        DocumentAttributes attributes = info.attributes();
        return Reply.Fields.of(
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
}
