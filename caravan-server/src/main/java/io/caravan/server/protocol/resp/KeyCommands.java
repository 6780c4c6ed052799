package io.caravan.server.protocol.resp;

import static io.caravan.server.protocol.resp.CommandSpec.Keys.ALL;
import static io.caravan.server.protocol.resp.CommandSpec.Keys.FIRST;
import static io.caravan.server.protocol.resp.CommandSpec.generic;
import static io.caravan.server.protocol.resp.CommandSpec.server;

import io.caravan.catalog.DocumentName;
import io.caravan.server.document.DocumentEdits;
import io.caravan.server.document.DocumentInfo;
import io.caravan.server.document.DocumentService;
import io.caravan.server.protocol.resp.CommandSpec.Keys;
import io.caravan.server.protocol.resp.codec.Command;
import io.caravan.server.protocol.resp.codec.CommandException;
import io.caravan.server.protocol.resp.codec.Reply;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The Redis commands for documents as a whole. {@link KeyExistence} explains the treatment of documents without values.
 */
public record KeyCommands(DocumentService documents) {
    /** Maximum number of documents in one command; limited because the command locks all of them at once. */
    static final int MAX_NAMES = 16 * 1024;

    /** Approximate memory that a document takes in addition to its name. */
    private static final int DOCUMENT_BYTES = 120;

    private static final Keys SECOND = new Keys(2, 2, 1);

    public List<CommandSpec> all() {
        Subcommands memory = new Subcommands("MEMORY")
                .add("USAGE", "key [SAMPLES count]", 1, 3, (session, command) -> usage(command));
        Subcommands object =
                new Subcommands("OBJECT").add("ENCODING", "key", 1, 1, (session, command) -> encoding(command));
        return List.of(
                generic("DEL", -2, ALL, "", "Deletes documents, all or none.").write(this::delete),
                generic("UNLINK", -2, ALL, "fast", "Deletes documents, as DEL does.")
                        .write(this::delete),
                generic("EXISTS", -2, ALL, "fast", "Counts the documents that have values.")
                        .inTransaction(this::existsInTransaction)
                        .stream((command, context) -> new Counting(documents, names(command), context)),
                generic("TYPE", 2, FIRST, "fast", "Returns list, or none.").lookup(documents, KeyCommands::type),
                server("MEMORY", -2, SECOND, "", "Returns the bytes that a document uses.")
                        .read(memory::run),
                generic("OBJECT", -2, SECOND, "", "Returns how a document is stored.")
                        .read(object::run));
    }

    private Change delete(Session session, Command command) {
        List<DocumentName> names = names(command);
        return new Change(names, edits -> new Reply.Number(delete(names, edits)));
    }

    /** Deletes the documents, and returns the number of documents that had values. Counts a repeated name once. */
    private static long delete(List<DocumentName> names, DocumentEdits edits) {
        long held = 0;
        for (DocumentName name : names) {
            held += KeyExistence.of(edits.document(name)::info) == null ? 0 : 1;
            if (KeyExistence.existing(edits.document(name)::info) != null) {
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
                        .filter(name -> KeyExistence.of(edits.document(name)::info) != null)
                        .count()));
    }

    /**
     * A read that counts existing documents ({@code EXISTS}). A turn looks up a limited number of names, because other
     * reads also need threads, and each document may have to be fetched from the archive.
     */
    static final class Counting implements ResumableRead {
        /** Maximum number of names looked up in one turn. */
        static final int TURN_NAMES = 64;

        private final DocumentService documents;
        private final List<DocumentName> names;
        private final ResumableRead.Context context;
        private int next;
        private long existing;

        Counting(DocumentService documents, List<DocumentName> names, ResumableRead.Context context) {
            this.documents = documents;
            this.names = names;
            this.context = context;
        }

        @Override
        public boolean proceed() {
            context.session().requireStillKnown();
            int end = Math.min(names.size(), next + TURN_NAMES);
            for (; next < end; next++) {
                DocumentName name = names.get(next);
                existing += KeyExistence.of(() -> documents.find(name)) == null ? 0 : 1;
            }
            if (next == names.size()) {
                context.place().complete(new Reply.Number(existing));
                return true;
            }
            context.wake().run();
            return false;
        }
    }

    private static Reply type(Command command, Function<DocumentName, @Nullable DocumentInfo> documents) {
        DocumentName name = ListCommands.name(command);
        return new Reply.Simple(KeyExistence.of(() -> documents.apply(name)) == null ? "none" : "list");
    }

    private static List<DocumentName> names(Command command) {
        if (command.size() - 1 > MAX_NAMES) {
            throw new CommandException("ERR " + command.shortText(0) + " accepts at most " + MAX_NAMES
                    + " documents at a time; use several commands");
        }
        return command.wordsFrom(1).stream().map(DocumentName::of).toList();
    }

    /** Returns the size of the document's values, which are on disk, plus the memory that the document uses. */
    private Reply usage(Command command) {
        if (command.size() == 4 || command.size() == 5 && !command.is(3, "SAMPLES")) {
            throw CommandException.syntax();
        }
        byte[] name = command.word(2);
        return ofExisting(
                command,
                info -> new Reply.Number(documents.bytes(DocumentName.of(name), info) + name.length + DOCUMENT_BYTES));
    }

    /** Returns the name that Redis uses for the encoding of long lists. */
    private Reply encoding(Command command) {
        return ofExisting(command, info -> Reply.Bulk.of("quicklist"));
    }

    private Reply ofExisting(Command command, Function<DocumentInfo, Reply> reply) {
        DocumentInfo info = KeyExistence.of(() -> documents.find(DocumentName.of(command.word(2))));
        return info == null ? Reply.Null.BULK : reply.apply(info);
    }
}
