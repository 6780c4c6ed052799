package io.caravan.server.protocol.resp;

import static io.caravan.server.protocol.resp.CommandSpec.Keys.FIRST;
import static io.caravan.server.protocol.resp.CommandSpec.generic;
import static io.caravan.server.protocol.resp.CommandSpec.list;

import io.caravan.catalog.DocumentName;
import io.caravan.server.document.DocumentException;
import io.caravan.server.document.DocumentException.Reason;
import io.caravan.server.document.DocumentInfo;
import io.caravan.server.document.DocumentService;
import io.caravan.server.document.EditedDocument;
import io.caravan.server.document.ExportedDocument;
import io.caravan.server.document.ImportStep;
import io.caravan.server.document.ImportStep.Replaced;
import io.caravan.server.document.MoveStep;
import io.caravan.server.document.PortableAttributes;
import io.caravan.server.document.RedirectTarget;
import io.caravan.server.security.Permission;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.function.Function;

/** The commands that copy and migrate documents, with their sequences and attributes, between servers. */
record MigrationCommands(DocumentService documents) {
    private static final int STEP_WORD = 2;
    private static final int FIRST_NUMBER_WORD = 3;
    private static final int TARGET_WORD = 4;
    /** Number of words that describe an attribute: the keyword, a name, and a value. */
    private static final int ATTRIBUTE_WORDS = 3;

    List<CommandSpec> all() {
        return List.of(
                generic("CARAVAN.EXPORT", 2, FIRST, "fast", "Describes a document for another server.")
                        .read(this::export),
                list("CARAVAN.IMPORT", -4, FIRST, "denyoom", "Makes a step of the import of a document.")
                        .edit((session, command) -> importStep(command))
                        .inTransaction(null),
                list("CARAVAN.MOVE", -3, FIRST, "", "Makes a step of a document's move to another server.")
                        .edit(MigrationCommands::move)
                        .inTransaction(null));
    }

    private Reply export(Session session, Command command) {
        DocumentName name = command.name();
        DocumentInfo info = documents.find(name);
        return info == null ? Reply.Null.ARRAY : Reply.of(ExportedDocument.of(documents, name, info));
    }

    private static <K extends Enum<K>> K kind(Command command, K[] kinds) {
        return Arrays.stream(kinds)
                .filter(kind -> command.is(STEP_WORD, kind.name()))
                .findFirst()
                .orElseThrow(CommandException::syntax);
    }

    private static Function<EditedDocument, Reply> importStep(Command command) {
        ImportStep.Kind kind = kind(command, ImportStep.Kind.values());
        int at = FIRST_NUMBER_WORD;
        requireWords(command, at + kind.numbers().size(), Integer.MAX_VALUE);
        List<Long> numbers = new ArrayList<>();
        while (numbers.size() < kind.numbers().size()) {
            numbers.add(command.count(at++));
        }
        Replaced replaced = Replaced.NOTHING;
        if (kind.creates() && (command.is(at, "REPLACE") || command.is(at, "REDIRECT"))) {
            replaced = command.is(at++, "REPLACE") ? Replaced.ANYTHING : Replaced.REDIRECT;
        }
        Map<String, byte[]> attributes = new LinkedHashMap<>();
        while (kind.takesAttributes() && command.is(at, "ATTRIBUTE") && at + 2 < command.size()) {
            attributes.put(command.text(at + 1), command.word(at + 2));
            at += ATTRIBUTE_WORDS;
        }
        List<byte[]> values = List.of();
        // A step with attributes needs a keyword before its values.
        boolean named = kind.takesAttributes();
        if (kind.takesValues() && (!named || command.is(at, "VALUES"))) {
            requireWords(command, named ? 0 : at + 1, Integer.MAX_VALUE);
            values = command.wordsFrom(named ? at + 1 : at);
            at = command.size();
        }
        requireWords(command, at, at);
        ImportStep step = new ImportStep(kind, numbers, replaced, PortableAttributes.parse(attributes), values);
        return document -> {
            try {
                return number(step.applyTo(document));
            } catch (DocumentException rejected) {
                if (rejected.reason() == Reason.EXISTS) {
                    throw new CommandException("EXISTS " + rejected.getMessage());
                }
                throw rejected;
            }
        };
    }

    /** Converts a result to a reply; a boolean becomes a number. */
    private static Reply number(Object result) {
        return result instanceof Boolean yes ? new Reply.Number(yes ? 1 : 0) : Reply.of(result);
    }

    private static void requireWords(Command command, int least, int most) {
        if (command.size() < least || command.size() > most) {
            throw CommandException.syntax();
        }
    }

    private static Function<EditedDocument, Reply> move(Session session, Command command) {
        MoveStep.Kind kind = kind(command, MoveStep.Kind.values());
        int numbers = kind == MoveStep.Kind.FORGET ? 0 : 1;
        int words = FIRST_NUMBER_WORD + numbers + (kind == MoveStep.Kind.FENCE ? 1 : 0);
        requireWords(command, kind == MoveStep.Kind.ABANDON ? FIRST_NUMBER_WORD : words, words);
        if (kind == MoveStep.Kind.FENCE) {
            // The target determines where all clients of the document are redirected.
            session.require(Permission.ADMIN, "caravan.move fence");
        }
        OptionalLong holder = command.size() > FIRST_NUMBER_WORD
                ? OptionalLong.of(command.count(FIRST_NUMBER_WORD))
                : OptionalLong.empty();
        RedirectTarget to = kind == MoveStep.Kind.FENCE ? RedirectTarget.parse(command.text(TARGET_WORD)) : null;
        MoveStep step = new MoveStep(kind, holder, to);
        return document -> number(step.applyTo(document));
    }
}
