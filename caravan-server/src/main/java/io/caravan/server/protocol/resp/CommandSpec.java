package io.caravan.server.protocol.resp;

import io.caravan.catalog.DocumentName;
import io.caravan.server.document.DocumentService;
import io.caravan.server.protocol.resp.codec.Command;
import io.caravan.server.protocol.resp.codec.Reply;
import io.caravan.server.security.Permission;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A command, with the properties that {@code COMMAND} returns in Redis.
 *
 * @param name the name in upper case
 * @param lowerName the name in lower case, for replies and metrics
 * @param arity number of words, including the name; a negative number means at least as many words as its absolute
 *     value
 * @param summary a short description of the effect
 * @param group the command group, as in Redis
 * @param flags the command flags, as in Redis
 * @param keys the positions of the words that are document names
 * @param access the permissions that the command requires
 * @param atOnce whether the command is never queued, but runs immediately even within a transaction
 * @param action the operation
 * @param queued the operation in a transaction; null if the command cannot be queued
 */
public record CommandSpec(
        String name,
        String lowerName,
        int arity,
        String summary,
        String group,
        List<String> flags,
        Keys keys,
        Access access,
        boolean atOnce,
        Action action,
        Action.@Nullable Write queued) {

    /** The permissions that a command requires for each document that it names. */
    public enum Access {
        /** No permission; even an unauthenticated client may run the command. */
        FREE,
        /** No permission, but the client must be authenticated. */
        KNOWN,
        READ(Permission.READ),
        WRITE(Permission.WRITE),
        READ_AND_WRITE(Permission.READ, Permission.WRITE),
        ADMIN(Permission.ADMIN);

        final List<Permission> permissions;

        Access(Permission... permissions) {
            this.permissions = List.of(permissions);
        }
    }

    /**
     * Positions of the words that are document names.
     *
     * @param first position of the first name; 0 if there are no names
     * @param last position of the last name; -1 stands for the last word
     * @param step distance between two names
     */
    public record Keys(int first, int last, int step) {
        public static final Keys NONE = new Keys(0, 0, 0);
        public static final Keys FIRST = new Keys(1, 1, 1);
        public static final Keys ALL = new Keys(1, -1, 1);

        /** Returns the document names among the words of a command. */
        public List<byte[]> of(Command command) {
            List<byte[]> names = new ArrayList<>();
            int end = last < 0 ? command.size() + last : Math.min(last, command.size() - 1);
            for (int i = first; i > 0 && i <= end; i += step) {
                names.add(command.word(i));
            }
            return names;
        }
    }

    /** Starts the spec of a command that concerns the values of documents. The flags are separated by spaces. */
    public static Builder list(String name, int arity, Keys keys, String flags, String summary) {
        return new Builder(name, arity, keys, flags, summary, "list");
    }

    public static Builder generic(String name, int arity, Keys keys, String flags, String summary) {
        return new Builder(name, arity, keys, flags, summary, "generic");
    }

    public static Builder connection(String name, int arity, String summary) {
        return new Builder(name, arity, Keys.NONE, "noscript loading stale fast", summary, "connection");
    }

    public static Builder server(String name, int arity, Keys keys, String flags, String summary) {
        return new Builder(name, arity, keys, ("loading stale " + flags).strip(), summary, "server");
    }

    public static Builder transactions(String name, int arity, String summary) {
        return new Builder(name, arity, Keys.NONE, "noscript loading stale fast", summary, "transactions").atOnce();
    }

    public static Builder pubsub(String name, int arity, String summary) {
        return new Builder(name, arity, Keys.NONE, "pubsub noscript loading stale", summary, "pubsub");
    }

    /**
     * Whether the reply may reveal the contents of documents. On a reading thread, such a command runs only after it
     * has passed the {@link io.caravan.server.document.ReadBarrier}.
     */
    public boolean readsDocuments() {
        return flags.contains("readonly") || keys != Keys.NONE && access.permissions.contains(Permission.READ);
    }

    /** Whether the command may wait for as long as its client chooses. */
    public boolean blocks() {
        return flags.contains("blocking");
    }

    boolean takes(int words) {
        return arity >= 0 ? words == arity : words >= -arity;
    }

    /** Returns the description of the command in the reply to {@code COMMAND}. */
    public Reply describe() {
        return Reply.Array.of(
                lowerName,
                arity,
                Reply.Array.set(flags.stream().map(Reply.Simple::new).toList()),
                keys.first(),
                keys.last(),
                keys.step());
    }

    /** Returns the description of the command in the reply to {@code COMMAND DOCS}. */
    public Reply document() {
        return Reply.Fields.of("summary", summary, "since", "0.1.0", "group", group);
    }

    /** Builds the spec of a command. The call that sets the operation completes it. */
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

        /** Sets the access that the command requires. The default depends on the type of the operation. */
        public Builder access(Access needed) {
            access = needed;
            return this;
        }

        public Builder atOnce() {
            atOnce = true;
            return this;
        }

        /**
         * Sets the operation that runs if the command is queued in a transaction. A queued read reflects the earlier
         * writes of the transaction.
         */
        public Builder inTransaction(Action.Write prepare) {
            queued = prepare;
            return this;
        }

        public CommandSpec immediate(Action.Immediate action) {
            return build(action);
        }

        /**
         * Completes the spec with the write that {@code EXEC} performs; the command requires no permission by default.
         * The permissions are checked when commands are queued.
         */
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

        /** Completes the spec with a read of the states of documents; the read can be queued in a transaction. */
        public CommandSpec lookup(DocumentService documents, Action.Lookup lookup) {
            return inTransaction((session, command) -> new Change(
                            keys.of(command).stream().map(DocumentName::of).toList(),
                            edits -> lookup.reply(
                                    command, name -> edits.document(name).info())))
                    .read((session, command) -> lookup.reply(command, documents::find));
        }

        /**
         * Completes the spec with an operation that may wait, and therefore runs on a reading thread. The operation
         * requires no permission by default.
         */
        public CommandSpec waiting(Action.Read action) {
            return build(action);
        }

        /** Completes the spec as {@link #waiting} does, but with an operation that runs in several turns. */
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
                    name,
                    name.toLowerCase(Locale.ROOT),
                    arity,
                    summary,
                    group,
                    List.copyOf(flags),
                    keys,
                    access,
                    atOnce,
                    action,
                    queued);
        }
    }
}
