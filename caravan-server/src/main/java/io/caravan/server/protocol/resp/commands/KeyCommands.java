package io.caravan.server.protocol.resp.commands;

import static io.caravan.server.protocol.resp.dispatch.CommandSpec.Keys.ALL;
import static io.caravan.server.protocol.resp.dispatch.CommandSpec.Keys.FIRST;

import io.caravan.catalog.DocumentName;
import io.caravan.server.document.DocumentEdits;
import io.caravan.server.document.DocumentService;
import io.caravan.server.protocol.resp.codec.Command;
import io.caravan.server.protocol.resp.codec.CommandException;
import io.caravan.server.protocol.resp.codec.Reply;
import io.caravan.server.protocol.resp.dispatch.Change;
import io.caravan.server.protocol.resp.dispatch.CommandSpec;
import io.caravan.server.protocol.resp.dispatch.Session;
import java.util.List;

/** Redis's commands about documents as a whole; see {@link Presence} for documents without values. */
public final class KeyCommands {
    /** Greatest number of documents that one command may name: all of them are locked together. */
    static final int MAX_NAMES = 16 * 1024;

    private final DocumentService documents;

    public KeyCommands(DocumentService documents) {
        this.documents = documents;
    }

    public List<CommandSpec> all() {
        return List.of(
                CommandSpec.generic("DEL", -2, "Deletes documents, all or none.")
                        .keys(ALL)
                        .write(this::delete),
                CommandSpec.generic("UNLINK", -2, "Deletes documents, as DEL does.")
                        .keys(ALL)
                        .flags("fast")
                        .write(this::delete),
                CommandSpec.generic("EXISTS", -2, "Tells how many of the documents hold values.")
                        .keys(ALL)
                        .flags("fast")
                        .read(this::exists),
                CommandSpec.generic("TYPE", 2, "Tells list, or none.")
                        .keys(FIRST)
                        .flags("fast")
                        .read(this::type));
    }

    private Change delete(Session session, Command command) {
        List<DocumentName> names = names(command);
        return new Change.OfMany(names, edits -> new Reply.Number(delete(names, edits)));
    }

    /** Returns how many of the documents held values; one that is named twice is deleted once. */
    private static long delete(List<DocumentName> names, DocumentEdits edits) {
        long held = 0;
        for (DocumentName name : names) {
            held += Presence.of(edits.document(name)) == null ? 0 : 1;
            if (Presence.existing(edits.document(name)) != null) {
                edits.document(name).delete();
            }
        }
        return held;
    }

    private Reply exists(Session session, Command command) {
        long existing = names(command).stream()
                .filter(name -> Presence.of(documents, name) != null)
                .count();
        return new Reply.Number(existing);
    }

    private Reply type(Session session, Command command) {
        return new Reply.Simple(Presence.of(documents, ListCommands.name(command)) == null ? "none" : "list");
    }

    private static List<DocumentName> names(Command command) {
        if (command.size() - 1 > MAX_NAMES) {
            throw new CommandException("ERR " + command.shortText(0) + " takes at most " + MAX_NAMES
                    + " documents at a time; name them in several commands");
        }
        return command.wordsFrom(1).stream().map(DocumentName::of).toList();
    }
}
