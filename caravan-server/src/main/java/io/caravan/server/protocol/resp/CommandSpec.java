package io.caravan.server.protocol.resp;

import io.caravan.catalog.DocumentName;
import io.caravan.server.document.DocumentInfo;
import io.caravan.server.document.DocumentService;
import io.caravan.server.document.EditedDocument;
import io.caravan.server.security.Permission;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A command, with the properties that {@code COMMAND} returns in Redis. The call that sets the operation completes the
 * spec, which then does not change.
 */
final class CommandSpec {
    /** Stands for the commands that do not exist. */
    static final CommandSpec UNKNOWN = server("UNKNOWN", -1, "", "");

    final String name;
    final String lowerName;
    /** Number of words, including the name; a negative number means at least as many words as its absolute value. */
    final int arity;

    private final String summary;
    final String group;
    private final List<String> flags;

    final Keys keys;
    /** Whether even an unauthenticated client may run the command. */
    boolean free;
    /** The permissions that the command requires for each document that it names. */
    List<Permission> permissions = List.of();
    /** Whether the command is never queued, but runs immediately even within a transaction. */
    boolean atOnce;

    @Nullable
    Action action;
    /** The operation in a transaction; null if the command cannot be queued. */
    Action.@Nullable Write queued;

    /**
     * Positions of the words that are document names.
     *
     * @param first position of the first name; 0 if there are no names
     * @param last position of the last name; -1 stands for the last word
     */
    record Keys(int first, int last) {
        static final Keys NONE = new Keys(0, 0);
        static final Keys FIRST = new Keys(1, 1);
        static final Keys SECOND = new Keys(2, 2);
        static final Keys ALL = new Keys(1, -1);

        List<byte[]> of(Command command) {
            int end = last < 0 ? command.size() + last : Math.min(last, command.size() - 1);
            return first == 0 || end < first
                    ? List.of()
                    : command.wordsFrom(first).subList(0, end - first + 1);
        }
    }

    private CommandSpec(String name, int arity, Keys keys, String flags, String summary, String group) {
        this.name = name;
        this.lowerName = name.toLowerCase(Locale.ROOT);
        this.arity = arity;
        this.keys = keys;
        this.summary = summary;
        this.group = group;
        this.flags = new ArrayList<>(flags.isEmpty() ? List.of() : List.of(flags.split(" ")));
    }

    /** Starts the spec of a command that concerns the values of documents. The flags are separated by spaces. */
    static CommandSpec list(String name, int arity, Keys keys, String flags, String summary) {
        return new CommandSpec(name, arity, keys, flags, summary, "list");
    }

    static CommandSpec generic(String name, int arity, Keys keys, String flags, String summary) {
        return new CommandSpec(name, arity, keys, flags, summary, "generic");
    }

    static CommandSpec connection(String name, int arity, String summary) {
        return new CommandSpec(name, arity, Keys.NONE, "noscript loading stale fast", summary, "connection");
    }

    static CommandSpec server(String name, int arity, String flags, String summary) {
        return server(name, arity, Keys.NONE, flags, summary);
    }

    static CommandSpec server(String name, int arity, Keys keys, String flags, String summary) {
        return new CommandSpec(name, arity, keys, ("loading stale " + flags).strip(), summary, "server");
    }

    static CommandSpec transactions(String name, String summary) {
        return new CommandSpec(name, 1, Keys.NONE, "noscript loading stale fast", summary, "transactions").atOnce();
    }

    static CommandSpec pubsub(String name, int arity, String summary) {
        return new CommandSpec(name, arity, Keys.NONE, "pubsub noscript loading stale", summary, "pubsub");
    }

    /**
     * Whether the reply may reveal the contents of documents. On a reading thread, such a command runs only after it
     * has passed the {@link io.caravan.server.document.ReadBarrier}.
     */
    boolean readsDocuments() {
        return flags.contains("readonly") || keys != Keys.NONE && permissions.contains(Permission.READ);
    }

    /** Whether the command may wait for as long as its client chooses. */
    boolean blocks() {
        return flags.contains("blocking");
    }

    Reply describe() {
        return Reply.Array.of(
                lowerName,
                arity,
                Reply.Array.set(flags.stream().map(Reply.Simple::new).toList()),
                keys.first(),
                keys.last(),
                keys == Keys.NONE ? 0 : 1);
    }

    Reply document() {
        return Reply.map("summary", summary, "since", "0.1.0", "group", group);
    }

    CommandSpec free() {
        free = true;
        return this;
    }

    /** Sets the permissions that the command requires. The default depends on the type of the operation. */
    CommandSpec needs(Permission... needed) {
        permissions = List.of(needed);
        return this;
    }

    CommandSpec atOnce() {
        atOnce = true;
        return this;
    }

    /**
     * Sets the operation that runs if the command is queued in a transaction. A queued read reflects the earlier writes
     * of the transaction. Null means that the command cannot be queued.
     */
    CommandSpec inTransaction(Action.@Nullable Write prepare) {
        queued = prepare;
        return this;
    }

    CommandSpec editInTransaction(Action.Edit edit) {
        return inTransaction(toWrite(edit));
    }

    private static Action.Write toWrite(Action.Edit edit) {
        return (session, command, names) -> {
            DocumentName name = names.iterator().next();
            Function<EditedDocument, Reply> change = edit.prepare(session, command);
            return edits -> change.apply(edits.document(name));
        };
    }

    /** Sets an operation that requires no permission by default, and cannot be queued in a transaction. */
    private CommandSpec run(Action operation) {
        action = operation;
        return this;
    }

    private CommandSpec run(String flag, Permission usual, Action operation) {
        flags.add(0, flag);
        permissions = permissions.isEmpty() ? List.of(usual) : permissions;
        return run(operation);
    }

    CommandSpec immediate(Action.Immediate operation) {
        return run(operation);
    }

    CommandSpec commit(Action.Write operation) {
        return run(operation);
    }

    CommandSpec write(Action.Write operation) {
        return inTransaction(operation).run("write", Permission.WRITE, operation);
    }

    CommandSpec edit(Action.Edit operation) {
        return write(toWrite(operation));
    }

    CommandSpec read(Action.Immediate operation) {
        return stream(operation.inOneTurn());
    }

    CommandSpec stream(Action.Read operation) {
        return run("readonly", Permission.READ, operation);
    }

    /**
     * Sets a read of the state of a document; the read can be queued in a transaction. The supplier returns null if the
     * document does not exist.
     */
    CommandSpec lookup(DocumentService documents, Function<Supplier<@Nullable DocumentInfo>, Reply> operation) {
        return editInTransaction((session, command) -> document -> operation.apply(document::info))
                .read((session, command) -> operation.apply(() -> documents.find(command.name())));
    }

    /** Sets an operation that may wait, and therefore runs on a reading thread. */
    CommandSpec waiting(Action.Immediate operation) {
        return waitingInTurns(operation.inOneTurn());
    }

    /** Sets an operation that may wait and runs in several turns. */
    CommandSpec waitingInTurns(Action.Read operation) {
        return run(operation);
    }
}
