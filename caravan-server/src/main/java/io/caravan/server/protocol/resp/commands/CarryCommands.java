package io.caravan.server.protocol.resp.commands;

import static io.caravan.server.protocol.resp.dispatch.CommandSpec.Keys.FIRST;
import static io.caravan.server.protocol.resp.dispatch.CommandSpec.generic;
import static io.caravan.server.protocol.resp.dispatch.CommandSpec.list;

import io.caravan.catalog.DocumentName;
import io.caravan.server.document.DocumentAttributes;
import io.caravan.server.document.DocumentException;
import io.caravan.server.document.DocumentException.Reason;
import io.caravan.server.document.DocumentImport;
import io.caravan.server.document.DocumentImport.Replaced;
import io.caravan.server.document.DocumentInfo;
import io.caravan.server.document.DocumentMove;
import io.caravan.server.document.DocumentService;
import io.caravan.server.document.EditedDocument;
import io.caravan.server.document.Origin;
import io.caravan.server.document.PortableAttributes;
import io.caravan.server.document.RedirectTarget;
import io.caravan.server.protocol.resp.codec.Command;
import io.caravan.server.protocol.resp.codec.CommandException;
import io.caravan.server.protocol.resp.codec.Reply;
import io.caravan.server.protocol.resp.dispatch.Change;
import io.caravan.server.protocol.resp.dispatch.CommandGate;
import io.caravan.server.protocol.resp.dispatch.CommandSpec;
import io.caravan.server.protocol.resp.dispatch.CommandSpec.Access;
import io.caravan.server.protocol.resp.dispatch.Session;
import io.caravan.server.security.Permission;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.function.ToLongFunction;

/** The commands that copy and migrate documents between servers, with their sequences and attributes. */
public final class CarryCommands {
    private static final int VERB_WORD = 2;
    /** Position of the document's id, of a new document's first sequence, or of the number of a fence's holder. */
    private static final int SUBJECT_WORD = 3;

    private static final int SEQUENCE_WORD = 4;
    private static final int FIRST_WORD = 5;
    private static final int TARGET_WORD = 4;
    /** Number of words of an attribute: the keyword, a name, and a value. */
    private static final int ATTRIBUTE_WORDS = 3;

    private final DocumentService documents;

    public CarryCommands(DocumentService documents) {
        this.documents = documents;
    }

    public List<CommandSpec> all() {
        return List.of(
                generic("CARAVAN.EXPORT", 2, FIRST, "fast", "Tells what another server needs to know of a document.")
                        .read(this::export),
                list(
                                "CARAVAN.IMPORT",
                                -4,
                                FIRST,
                                "write denyoom",
                                "Creates a document with the sequences it is to have.")
                        .access(Access.WRITE)
                        .commit(this::bring),
                list("CARAVAN.MOVE", -3, FIRST, "write", "Makes a step of a document's move to another server.")
                        .access(Access.WRITE)
                        .commit(this::move));
    }

    private Reply export(Session session, Command command) {
        DocumentName name = ListCommands.name(command);
        DocumentInfo info = documents.find(name);
        if (info == null) {
            return Reply.Null.ARRAY;
        }
        Origin origin = info.attributes().origin();
        Map<String, Reply> attributes = new LinkedHashMap<>();
        PortableAttributes.of(info.attributes()).forEach((key, value) -> attributes.put(key, Reply.of(value)));
        return Reply.Fields.of(
                "id",
                info.id(),
                "first",
                info.firstSequence(),
                "next",
                info.nextSequence(),
                "bytes",
                info.attributes().isFork() ? null : documents.bytes(name, info),
                "moving",
                info.attributes().movingTo() != null,
                "identity",
                documents.identity(info),
                "origin",
                origin == null ? null : origin.identity(),
                "copied-to",
                origin == null ? null : origin.copiedTo(),
                "attributes",
                new Reply.Fields(attributes));
    }

    private Change bring(Session session, Command command) {
        return switch (command.keyword(VERB_WORD)) {
            case "WHOLE", "BEGIN" -> make(command);
            case "ADD" -> add(command);
            case "END" -> end(command);
            case "CONTINUE" -> goOn(command);
            case "ABORT" -> take(command, DocumentImport::abort);
            case "DELETE" -> take(command, DocumentImport::delete);
            default -> throw CommandException.syntax();
        };
    }

    private static Change make(Command command) {
        boolean whole = command.is(VERB_WORD, "WHOLE");
        long first = command.count(SUBJECT_WORD);
        int at = SUBJECT_WORD + 1;
        Replaced replaced = command.is(at, "REPLACE")
                ? Replaced.ANYTHING
                : command.is(at, "REDIRECT") ? Replaced.REDIRECT : Replaced.NOTHING;
        Brought brought = Brought.from(command, replaced == Replaced.NOTHING ? at : at + 1, whole);
        return change(
                command,
                document -> whole
                        ? DocumentImport.whole(document, brought.attributes(), first, brought.values(), replaced)
                        : DocumentImport.begin(document, brought.attributes(), first, replaced));
    }

    /** The attributes and values in a command. */
    private record Brought(DocumentAttributes attributes, List<byte[]> values) {
        /** Parses the words of a command, starting at a position. */
        static Brought from(Command command, int from, boolean mayHaveValues) {
            int at = from;
            Map<String, byte[]> given = new LinkedHashMap<>();
            while (command.is(at, "ATTRIBUTE") && at + 2 < command.size()) {
                given.put(command.text(at + 1), command.word(at + 2));
                at += ATTRIBUTE_WORDS;
            }
            boolean values = mayHaveValues && command.is(at, "VALUES");
            if (at < command.size() && !values) {
                throw CommandException.syntax();
            }
            return new Brought(PortableAttributes.parse(given), values ? command.wordsFrom(at + 1) : List.of());
        }
    }

    private static Change goOn(Command command) {
        long id = command.count(SUBJECT_WORD);
        requireWords(command, FIRST_WORD + 1, Integer.MAX_VALUE);
        long sequence = command.count(SEQUENCE_WORD);
        long first = command.count(FIRST_WORD);
        Brought brought = Brought.from(command, FIRST_WORD + 1, true);
        return change(
                command,
                document -> DocumentImport.goOn(document, id, sequence, first, brought.attributes(), brought.values()));
    }

    private static Change add(Command command) {
        long id = command.count(SUBJECT_WORD);
        requireWords(command, SEQUENCE_WORD + 2, Integer.MAX_VALUE);
        long sequence = command.count(SEQUENCE_WORD);
        List<byte[]> values = command.wordsFrom(SEQUENCE_WORD + 1);
        return change(command, document -> DocumentImport.add(document, id, sequence, values));
    }

    private static Change end(Command command) {
        long id = command.count(SUBJECT_WORD);
        requireWords(command, SEQUENCE_WORD + 1, SEQUENCE_WORD + 1);
        long next = command.count(SEQUENCE_WORD);
        return change(command, document -> DocumentImport.end(document, id, next));
    }

    /** Deletes the imported document with this id. */
    private interface TakingBack {
        boolean taken(EditedDocument document, long id);
    }

    private static Change take(Command command, TakingBack back) {
        long id = command.count(SUBJECT_WORD);
        requireWords(command, SUBJECT_WORD + 1, SUBJECT_WORD + 1);
        return change(command, document -> back.taken(document, id) ? 1 : 0);
    }

    private static void requireWords(Command command, int least, int most) {
        if (command.size() < least || command.size() > most) {
            throw CommandException.syntax();
        }
    }

    private Change move(Session session, Command command) {
        return switch (command.keyword(VERB_WORD)) {
            case "FENCE" -> {
                // The target determines where all clients of the document are redirected.
                CommandGate.require(session.principal(), Permission.ADMIN, "caravan.move fence");
                yield fence(command);
            }
            case "REDIRECT" -> redirect(command);
            case "ABANDON" -> abandon(command);
            case "FORGET" -> {
                requireWords(command, VERB_WORD + 1, VERB_WORD + 1);
                yield change(command, document -> DocumentMove.forget(document) ? 1 : 0);
            }
            default -> throw CommandException.syntax();
        };
    }

    private static Change fence(Command command) {
        requireWords(command, TARGET_WORD + 1, TARGET_WORD + 1);
        long holder = command.count(SUBJECT_WORD);
        RedirectTarget to = RedirectTarget.parse(command.text(TARGET_WORD));
        return Change.of(ListCommands.name(command), document -> {
            DocumentInfo info = DocumentMove.fence(document, holder, to);
            return Reply.Fields.of("id", info.id(), "first", info.firstSequence(), "next", info.nextSequence());
        });
    }

    private static Change redirect(Command command) {
        requireWords(command, SUBJECT_WORD + 1, SUBJECT_WORD + 1);
        long holder = command.count(SUBJECT_WORD);
        return Change.of(
                ListCommands.name(command),
                document -> Reply.of(DocumentMove.redirect(document, holder).text()));
    }

    private static Change abandon(Command command) {
        requireWords(command, VERB_WORD + 1, SUBJECT_WORD + 1);
        OptionalLong holder =
                command.size() > SUBJECT_WORD ? OptionalLong.of(command.count(SUBJECT_WORD)) : OptionalLong.empty();
        return change(command, document -> DocumentMove.abandon(document, holder) ? 1 : 0);
    }

    private static Change change(Command command, ToLongFunction<EditedDocument> edit) {
        return Change.of(ListCommands.name(command), document -> {
            try {
                return new Reply.Number(edit.applyAsLong(document));
            } catch (DocumentException refused) {
                if (refused.reason() == Reason.EXISTS) {
                    throw new CommandException("EXISTS " + refused.getMessage());
                }
                throw refused;
            }
        });
    }
}
