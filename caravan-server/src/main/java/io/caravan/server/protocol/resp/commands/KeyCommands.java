package io.caravan.server.protocol.resp.commands;

import static io.caravan.server.protocol.resp.dispatch.CommandSpec.Keys.ALL;
import static io.caravan.server.protocol.resp.dispatch.CommandSpec.Keys.FIRST;

import io.caravan.catalog.DocumentName;
import io.caravan.server.document.DocumentEdits;
import io.caravan.server.document.DocumentService;
import io.caravan.server.protocol.resp.codec.Command;
import io.caravan.server.protocol.resp.codec.CommandException;
import io.caravan.server.protocol.resp.codec.Reply;
import io.caravan.server.protocol.resp.dispatch.Action.Lookup;
import io.caravan.server.protocol.resp.dispatch.Change;
import io.caravan.server.protocol.resp.dispatch.CommandSpec;
import io.caravan.server.protocol.resp.dispatch.Reading;
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
                CommandSpec.generic("EXISTS", -2, "Counts the documents that hold values.")
                        .keys(ALL)
                        .flags("fast")
                        .inTransaction(this::existsInTransaction)
                        .stream((session, command, context) -> new Counting(documents, names(command), context)),
                CommandSpec.generic("TYPE", 2, "Returns list, or none.")
                        .keys(FIRST)
                        .flags("fast")
                        .lookup(documents, KeyCommands::type));
    }

    private Change delete(Session session, Command command) {
        List<DocumentName> names = names(command);
        return new Change(names, edits -> new Reply.Number(delete(names, edits)));
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

    private Change existsInTransaction(Session session, Command command) {
        List<DocumentName> names = names(command);
        return new Change(
                names,
                edits -> new Reply.Number(names.stream()
                        .filter(name -> Presence.of(edits.document(name)) != null)
                        .count()));
    }

    /**
     * {@code EXISTS}: looks for some names a turn, because each may have to be looked for in the archive, and others
     * wait for reading threads too.
     */
    static final class Counting implements Reading {
        /** How many names are looked for in one turn. */
        static final int TURN_NAMES = 64;

        private final DocumentService documents;
        private final List<DocumentName> names;
        private final Reading.Context context;
        private int next;
        private long existing;

        Counting(DocumentService documents, List<DocumentName> names, Reading.Context context) {
            this.documents = documents;
            this.names = names;
            this.context = context;
        }

        @Override
        public boolean proceed() {
            context.checkStillKnown();
            int end = Math.min(names.size(), next + TURN_NAMES);
            for (; next < end; next++) {
                existing += Presence.of(documents::find, names.get(next)) == null ? 0 : 1;
            }
            if (next == names.size()) {
                context.place().complete(new Reply.Number(existing));
                return true;
            }
            context.wake().run();
            return false;
        }
    }

    private static Reply type(Command command, Lookup.Finder documents) {
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
