package io.caravan.server.protocol.resp.dispatch;

import io.caravan.catalog.DocumentName;
import io.caravan.server.document.DocumentService;
import io.caravan.server.protocol.resp.codec.Command;
import io.caravan.server.protocol.resp.codec.CommandException;
import io.caravan.server.protocol.resp.codec.Reply;
import io.caravan.server.security.Permission;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A command of the table, described as Redis's {@code COMMAND} does.
 *
 * @param name in upper case
 * @param arity number of words, the name included; when negative, the least number
 * @param summary what it does, in a few words
 * @param group what Redis files it under
 * @param flags what kind of command it is
 * @param keys which words are documents' names
 * @param access what its user must be allowed to
 * @param atOnce whether it runs at once within a transaction too, instead of becoming part of it
 * @param action what it does
 * @param queued what it does in a transaction; null when it cannot be in one
 */
public record CommandSpec(
        String name,
        int arity,
        String summary,
        String group,
        List<String> flags,
        Keys keys,
        Access access,
        boolean atOnce,
        Action action,
        Action.@Nullable Write queued) {

    /** What the user of a command must be allowed to do with each of the documents that it names. */
    public enum Access {
        /** Nothing: a client that has not authenticated itself may run it. */
        FREE,
        /** Nothing, but the client must be authenticated. */
        KNOWN,
        READ(Permission.READ),
        WRITE(Permission.WRITE),
        READ_AND_WRITE(Permission.READ, Permission.WRITE),
        ADMIN(Permission.ADMIN);

        private final List<Permission> permissions;

        Access(Permission... permissions) {
            this.permissions = List.of(permissions);
        }

        List<Permission> permissions() {
            return permissions;
        }
    }

    /**
     * Positions of the words that are documents' names.
     *
     * @param first the first one, 0 when there is none
     * @param last the last one; -1 is the last word
     * @param step from one to the next
     */
    public record Keys(int first, int last, int step) {
        public static final Keys NONE = new Keys(0, 0, 0);
        public static final Keys FIRST = new Keys(1, 1, 1);
        public static final Keys ALL = new Keys(1, -1, 1);

        /** The names among a command's words. */
        public List<byte[]> of(Command command) {
            List<byte[]> names = new ArrayList<>();
            int end = last < 0 ? command.size() + last : Math.min(last, command.size() - 1);
            for (int i = first; i > 0 && i <= end; i += step) {
                names.add(command.word(i));
            }
            return names;
        }
    }

    /**
     * A command that works on lists, or on documents whatever they hold.
     *
     * @param flags words, with spaces between them
     */
    public static Builder list(String name, int arity, Keys keys, String flags, String summary) {
        return new Builder(name, arity, keys, flags, summary, "list");
    }

    /** A command about documents as a whole. */
    public static Builder generic(String name, int arity, Keys keys, String flags, String summary) {
        return new Builder(name, arity, keys, flags, summary, "generic");
    }

    /** A command about the connection. */
    public static Builder connection(String name, int arity, String summary) {
        return new Builder(name, arity, Keys.NONE, "noscript loading stale fast", summary, "connection");
    }

    /** A command about the server. */
    public static Builder server(String name, int arity, Keys keys, String flags, String summary) {
        return new Builder(name, arity, keys, ("loading stale " + flags).strip(), summary, "server");
    }

    /** A command about the connection's transaction. */
    public static Builder transactions(String name, int arity, String summary) {
        return new Builder(name, arity, Keys.NONE, "noscript loading stale fast", summary, "transactions").atOnce();
    }

    /** A command about messages. */
    public static Builder pubsub(String name, int arity, String summary) {
        return new Builder(name, arity, Keys.NONE, "pubsub noscript loading stale", summary, "pubsub");
    }

    /**
     * Whether its answer may tell what documents hold without a change, so that it passes the {@link
     * io.caravan.server.document.ReadBarrier} before it runs on a reading thread.
     */
    public boolean looks() {
        return flags.contains("readonly")
                || keys != Keys.NONE && access.permissions().contains(Permission.READ);
    }

    /** Whether it may wait for as long as its client likes. */
    public boolean blocks() {
        return flags.contains("blocking");
    }

    boolean takes(int words) {
        return arity >= 0 ? words == arity : words >= -arity;
    }

    Reply.Error wrongArity() {
        return CommandException.wrongArity(lowerName()).reply();
    }

    public String lowerName() {
        return name.toLowerCase(Locale.ROOT);
    }

    /** An element of {@code COMMAND}'s answer. */
    public Reply describe() {
        return Reply.Array.of(
                lowerName(),
                arity,
                new Reply.Set(flags.stream().map(Reply.Simple::new).toList()),
                keys.first(),
                keys.last(),
                keys.step());
    }

    /** An entry of the answer to {@code COMMAND DOCS}. */
    public Reply document() {
        return Reply.Fields.of("summary", summary, "since", "0.1.0", "group", group);
    }

    /** Gathers a spec; ends with what the command does. */
    public static final class Builder {
        private final String name;
        private final int arity;
        private final String summary;
        private final String group;
        private final Keys keys;
        private final List<String> flags = new ArrayList<>();
        private Access access = Access.KNOWN;
        private boolean atOnce;
        private Action.@Nullable Write queued;

        private Builder(String name, int arity, Keys keys, String flags, String summary, String group) {
            this.name = name;
            this.arity = arity;
            this.keys = keys;
            this.summary = summary;
            this.group = group;
            if (!flags.isEmpty()) {
                this.flags.addAll(List.of(flags.split(" ")));
            }
        }

        /** Without this, any authenticated client may run it. */
        public Builder access(Access needed) {
            access = needed;
            return this;
        }

        public Builder atOnce() {
            atOnce = true;
            return this;
        }

        /** What a read does in a transaction, where it sees the changes before it. */
        public Builder inTransaction(Action.Write prepare) {
            queued = prepare;
            return this;
        }

        public CommandSpec immediate(Action.Immediate action) {
            return build(action);
        }

        /** Changes what was checked before: it needs no permission of its own. */
        public CommandSpec commit(Action.Write action) {
            return build(action);
        }

        public CommandSpec write(Action.Write action) {
            return inTransaction(action).build("write", Access.WRITE, action);
        }

        public CommandSpec read(Action.Read action) {
            return build("readonly", Access.READ, action);
        }

        public CommandSpec stream(Action.Stream action) {
            return build("readonly", Access.READ, action);
        }

        /** Reads what it then removes. */
        public CommandSpec take(Action.Write action) {
            return inTransaction(action).build("write", Access.READ_AND_WRITE, action);
        }

        /** As {@link #take}, in several turns, outside of a transaction. */
        public CommandSpec takeInTurns(Action.Stream action) {
            return build("write", Access.READ_AND_WRITE, action);
        }

        /** Reads what documents are, of a transaction too. */
        public CommandSpec lookup(DocumentService documents, Action.Lookup lookup) {
            return inTransaction((session, command) -> new Change(
                            keys.of(command).stream().map(DocumentName::of).toList(),
                            edits -> lookup.answer(
                                    command, name -> edits.document(name).info())))
                    .read((session, command) -> lookup.answer(command, documents::find));
        }

        /** Runs on a reading thread, because it waits for the store, and reads no document. */
        public CommandSpec waiting(Action.Read action) {
            return build(action);
        }

        /** As {@link #waiting}, in several turns. */
        public CommandSpec waitingInTurns(Action.Stream action) {
            return build(action);
        }

        private CommandSpec build(String flag, Access usual, Action action) {
            flags.add(0, flag);
            access = access == Access.KNOWN ? usual : access;
            return build(action);
        }

        private CommandSpec build(Action action) {
            return new CommandSpec(
                    name, arity, summary, group, List.copyOf(flags), keys, access, atOnce, action, queued);
        }
    }
}
