package io.caravan.server.protocol.resp.commands;

import io.caravan.catalog.DocumentName;
import io.caravan.server.document.DocumentInfo;
import io.caravan.server.document.DocumentService;
import io.caravan.server.protocol.resp.codec.Command;
import io.caravan.server.protocol.resp.codec.CommandException;
import io.caravan.server.protocol.resp.codec.Reply;
import io.caravan.server.protocol.resp.dispatch.CommandSpec;
import io.caravan.server.protocol.resp.dispatch.CommandSpec.Keys;
import io.caravan.server.protocol.resp.dispatch.Subcommands;
import java.util.List;
import java.util.function.Function;

/** What tools that inspect a Redis request: how large a key is, how it is stored, which modules are loaded. */
public final class InspectionCommands {
    /** What a document takes in memory beside its name, about. */
    private static final int DOCUMENT_BYTES = 120;

    private static final Keys SECOND = new Keys(2, 2, 1);

    private final DocumentService documents;
    private final Subcommands memory = new Subcommands("MEMORY");
    private final Subcommands object = new Subcommands("OBJECT");
    private final Subcommands module = new Subcommands("MODULE");

    public InspectionCommands(DocumentService documents) {
        this.documents = documents;
        memory.add("USAGE", "key [SAMPLES count]", 1, 3, (session, command) -> usage(command));
        object.add("ENCODING", "key", 1, 1, (session, command) -> encoding(command));
        module.add("LIST", "", 0, 0, (session, command) -> Reply.Array.EMPTY);
    }

    public List<CommandSpec> all() {
        return List.of(
                CommandSpec.server("MEMORY", -2, "Returns the bytes that a document takes.")
                        .keys(SECOND)
                        .read(memory::run),
                CommandSpec.generic("OBJECT", -2, "Returns how a document is stored.")
                        .keys(SECOND)
                        .read(object::run),
                CommandSpec.server("MODULE", -2, "Lists the loaded modules: none.")
                        .immediate(module::run));
    }

    /** The values, which are on the disk, and what is in memory. */
    private Reply usage(Command command) {
        if (command.size() == 4 || command.size() == 5 && !command.is(3, "SAMPLES")) {
            throw CommandException.syntax();
        }
        return ofExisting(
                command, info -> new Reply.Number(documents.bytes(info) + command.word(2).length + DOCUMENT_BYTES));
    }

    /** Redis's name for a list of many elements. */
    private Reply encoding(Command command) {
        return ofExisting(command, info -> Reply.Bulk.of("quicklist"));
    }

    private Reply ofExisting(Command command, Function<DocumentInfo, Reply> answer) {
        DocumentInfo info = Presence.of(documents::find, DocumentName.of(command.word(2)));
        return info == null ? Reply.Null.BULK : answer.apply(info);
    }
}
