package io.caravan.server.protocol.resp;

import io.caravan.catalog.DocumentName;
import io.caravan.server.cluster.Cluster;
import io.caravan.server.cluster.ClusterNode;
import io.caravan.server.cluster.GroupView;
import io.caravan.server.cluster.Slots;
import io.caravan.server.security.Permission;
import io.caravan.server.security.Principal;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Rejects commands that do not exist, have the wrong number of words, are not permitted, or must run on another node of
 * a cluster.
 *
 * <p>In a cluster, the leader of the Raft group that contains the command's documents runs the command. The other nodes
 * redirect clients to the leader, as in Redis's <a
 * href="https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec/">cluster specification</a>.
 *
 * @param cluster null if the server is not part of a cluster
 */
public record CommandGate(@Nullable Cluster cluster) {
    private static final String UNKNOWN_USER = "NOAUTH Authentication required.";

    private static final Set<String> WHILE_LISTENING =
            Set.of("SUBSCRIBE", "UNSUBSCRIBE", "PSUBSCRIBE", "PUNSUBSCRIBE", "PING", "QUIT", "RESET");

    /** Command groups that concern only the connection or the node. Their commands run on every node. */
    private static final Set<String> OWN_GROUPS = Set.of("connection", "transactions", "pubsub");

    private static final Set<String> OWN = Set.of("INFO", "CONFIG", "MODULE", "COMMAND", "SLOWLOG", "CLUSTER", "ROLE");

    /**
     * Returns the error with which to reject the command, or null if the command may run.
     *
     * @param spec the command's spec, or null if the command does not exist
     */
    public Reply.@Nullable Error reject(Session session, @Nullable CommandSpec spec, Command command) {
        Reply.Error rejection = rejectHere(session, spec, command);
        return rejection != null || spec == null ? rejection : redirect(spec, command);
    }

    private static Reply.@Nullable Error rejectHere(Session session, @Nullable CommandSpec spec, Command command) {
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

    /** Returns an error, such as a redirect to the leader, if the command cannot run on this node; null otherwise. */
    private Reply.@Nullable Error redirect(CommandSpec spec, Command command) {
        if (cluster == null) {
            return null;
        }
        List<byte[]> names = spec.keys().of(command);
        int slot = names.isEmpty() ? -1 : Slots.of(names.get(0));
        for (byte[] name : names) {
            if (Slots.of(name) != slot) {
                return new Reply.Error("CROSSSLOT Keys in request don't hash to the same slot; names with the same"
                        + " {part} in braces do");
            }
        }
        if (OWN_GROUPS.contains(spec.group()) || OWN.contains(spec.name()) || concernsNode(spec, command)) {
            return null;
        }
        GroupView group = slot < 0 ? cluster.group() : cluster.group(slot);
        return group == cluster.group() && cluster.leads() ? null : elsewhere(group, slot);
    }

    /** Whether the command is a subcommand of {@code CARAVAN.CLUSTER} that does not need the leader. */
    private static boolean concernsNode(CommandSpec spec, Command command) {
        return spec.name().equals("CARAVAN.CLUSTER") && (command.is(1, "DRAIN") || command.is(1, "HELP"));
    }

    /** Whether this node belongs to a cluster and is not the leader. */
    public boolean elsewhere() {
        return cluster != null && !cluster.leads();
    }

    private static Reply.Error elsewhere(GroupView group, int slot) {
        Optional<ClusterNode> leader = group.leader();
        if (leader.isEmpty()) {
            return new Reply.Error(
                    "CLUSTERDOWN The cluster has no leader: an election is in progress, or the majority of"
                            + " the nodes cannot be reached. Nothing was changed");
        }
        ClusterNode node = leader.get();
        return slot < 0
                ? new Reply.Error("ERR this node is a follower: send the command to the leader, node " + node.id()
                        + ", at " + node.resp())
                : new Reply.Error("MOVED " + slot + " " + node.resp().unbracketed());
    }
}
