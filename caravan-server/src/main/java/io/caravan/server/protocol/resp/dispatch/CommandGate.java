package io.caravan.server.protocol.resp.dispatch;

import io.caravan.catalog.DocumentName;
import io.caravan.server.protocol.resp.codec.Command;
import io.caravan.server.protocol.resp.codec.CommandException;
import io.caravan.server.protocol.resp.codec.Reply;
import io.caravan.server.protocol.resp.reply.Errors;
import io.caravan.server.security.Permission;
import io.caravan.server.security.Principal;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Rejects commands that do not exist, have the wrong number of words, or are not permitted. */
public final class CommandGate {
    private static final String UNKNOWN_USER = "NOAUTH Authentication required.";

    private static final Set<String> WHILE_LISTENING =
            Set.of("SUBSCRIBE", "UNSUBSCRIBE", "PSUBSCRIBE", "PUNSUBSCRIBE", "PING", "QUIT", "RESET");

    private CommandGate() {}

    /**
     * Returns the error with which to reject the command, or null if the command may run.
     *
     * @param spec the command's spec, or null if the command does not exist
     */
    public static Reply.@Nullable Error reject(Session session, @Nullable CommandSpec spec, Command command) {
        if (spec == null) {
            return session.principal() == null ? new Reply.Error(UNKNOWN_USER) : UnsupportedCommands.unknown(command);
        }
        if (!spec.takes(command.size())) {
            return spec.wrongArity();
        }
        if (session.onlyListens() && !WHILE_LISTENING.contains(spec.name())) {
            return new Reply.Error("ERR Can't execute '" + spec.lowerName()
                    + "': only (P)SUBSCRIBE / (P)UNSUBSCRIBE / PING / QUIT / RESET are allowed in this context; after HELLO 3,"
                    + " all commands are allowed");
        }
        Principal principal = session.principal();
        return principal == Principal.ANYONE || spec.access() == CommandSpec.Access.FREE
                ? null
                : reject(principal, spec, command);
    }

    private static Reply.@Nullable Error reject(@Nullable Principal principal, CommandSpec spec, Command command) {
        if (principal == null || principal.revoked()) {
            return new Reply.Error(UNKNOWN_USER);
        }
        try {
            for (Permission permission : spec.access().permissions()) {
                check(principal, permission, spec, command);
            }
            return null;
        } catch (CommandException | IllegalArgumentException rejected) {
            return Errors.reply(rejected);
        }
    }

    private static void check(Principal principal, Permission permission, CommandSpec spec, Command command) {
        if (spec.keys() == CommandSpec.Keys.NONE) {
            require(principal, permission, spec.lowerName());
        }
        for (byte[] name : spec.keys().of(command)) {
            require(principal, permission, DocumentName.of(name));
        }
    }

    /**
     * Checks that the client's secret has not been revoked since the command began; called before more data is sent.
     *
     * @throws CommandException if the secret was revoked
     */
    static void requireStillKnown(@Nullable Principal principal) {
        if (principal != null && principal.revoked()) {
            throw new CommandException(UNKNOWN_USER);
        }
    }

    /**
     * Checks that the client has a permission that is not specific to a document.
     *
     * @throws CommandException if the client lacks the permission
     */
    public static void require(@Nullable Principal principal, Permission permission, String command) {
        if (principal == null || !principal.may(permission)) {
            throw new CommandException(
                    "NOPERM User " + name(principal) + " has no permissions to run the '" + command + "' command");
        }
    }

    /**
     * Checks that the client has a permission on a document.
     *
     * @throws CommandException if the client lacks the permission
     */
    public static void require(@Nullable Principal principal, Permission permission, DocumentName document) {
        if (principal == null || !principal.may(permission, document)) {
            throw new CommandException("NOPERM No permissions to access a key: user " + name(principal) + " may not "
                    + permission.name().toLowerCase(Locale.ROOT) + " it");
        }
    }

    /**
     * Checks that the client has a permission on all documents whose names start with the fixed beginning of a pattern.
     *
     * @throws CommandException if the client lacks the permission for any of them
     */
    static void requireAll(@Nullable Principal principal, Permission permission, Glob pattern) {
        if (principal == null || !principal.mayAll(permission, pattern.beginning())) {
            throw new CommandException("NOPERM No permissions to access a channel: user " + name(principal)
                    + " may not "
                    + permission.name().toLowerCase(Locale.ROOT) + " all that the pattern can match; begin it with a"
                    + " prefix that the user has");
        }
    }

    private static String name(@Nullable Principal principal) {
        return principal == null ? "?" : principal.name();
    }
}
