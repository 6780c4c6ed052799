package io.caravan.server.protocol.resp;

import static io.caravan.server.protocol.resp.CommandSpec.connection;
import static io.caravan.server.protocol.resp.CommandSpec.server;

import io.caravan.server.cluster.Cluster;
import io.caravan.server.cluster.ClusterNode;
import io.caravan.server.cluster.GroupView;
import io.caravan.server.cluster.Slots;
import io.caravan.server.config.HostPort;
import io.caravan.server.document.DocumentService;
import io.caravan.server.document.Outcome;
import io.caravan.server.document.ScanPage;
import io.caravan.server.protocol.resp.ReplyQueue.PendingReply;
import io.caravan.server.security.Permission;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The cluster commands of Redis, with which clients find the leaders, and the commands that transfer leadership or
 * change the membership of the cluster.
 */
record ClusterCommands(Cluster cluster, DocumentService documents) {
    private static final Duration TRANSFER_TIMEOUT = Duration.ofSeconds(5);

    private static final int PAGE_DOCUMENTS = 1_000;

    /** Command groups that concern only the connection or the node. Their commands run on every node. */
    private static final Set<String> OWN_GROUPS = Set.of("connection", "transactions", "pubsub");

    private static final Set<String> OWN = Set.of("INFO", "CONFIG", "MODULE", "COMMAND", "SLOWLOG", "CLUSTER", "ROLE");

    List<CommandSpec> all() {
        Subcommands changes = new Subcommands()
                .add("ADD node peer resp http", 4, (session, command) -> change(null, node(command, 2)))
                .add("REMOVE node", 1, (session, command) -> change(command.shortText(2), null))
                .add(
                        "REPLACE old node peer resp http",
                        5,
                        (session, command) -> change(command.shortText(2), node(command, 3)))
                .add(
                        "TRANSFER node",
                        1,
                        (session, command) -> changed(() -> cluster.transfer(command.shortText(2), TRANSFER_TIMEOUT)))
                .add("DRAIN ON|OFF", 1, (session, command) -> changed(() -> cluster.drain(command.isOn(2))));
        Action.Immediate ok = (session, command) -> Reply.OK;
        return List.of(
                server("CLUSTER", -2, "", "Describes the cluster: its leaders and followers.")
                        .waiting(new Subcommands()
                                .add("COUNTKEYSINSLOT slot", 1, this::countInSlot)
                                .add("INFO", 0, (session, command) -> info())
                                .add(
                                        "KEYSLOT key",
                                        1,
                                        (session, command) -> new Reply.Number(Slots.of(command.word(2))))
                                .add("MYID", 0, (session, command) -> id(cluster.group(), cluster.self()))
                                .add("NODES", 0, (session, command) -> nodes())
                                .add("SHARDS", 0, (session, command) -> ofEachGroup(this::shard))
                                .add("SLOTS", 0, (session, command) -> ofEachGroup(ClusterCommands::slots))),
                server("ROLE", 1, "fast", "Returns whether this node leads, and the other nodes.")
                        .immediate((session, command) -> role()),
                connection("READONLY", 1, "Returns OK; reads run on the leader.")
                        .immediate(ok),
                connection("READWRITE", 1, "Returns OK; reads run on the leader.")
                        .immediate(ok),
                connection("ASKING", 1, "Returns OK; slots never move.").immediate(ok),
                server("CARAVAN.CLUSTER", -2, "", "Changes the nodes of the cluster, or its leader.")
                        .needs(Permission.ADMIN)
                        .waitingInTurns(place -> apart(changes, place)));
    }

    /** Returns an error, such as a redirect to the leader, if the command cannot run on this node; null otherwise. */
    static Reply.@Nullable Error redirect(Cluster cluster, Command command) {
        CommandSpec spec = command.spec;
        List<byte[]> names = spec.keys.of(command);
        int slot = names.isEmpty() ? -1 : Slots.of(names.get(0));
        for (byte[] name : names) {
            if (Slots.of(name) != slot) {
                return new Reply.Error("CROSSSLOT Keys in request don't hash to the same slot; names with the same"
                        + " {part} in braces do");
            }
        }
        // These two subcommands of CARAVAN.CLUSTER do not need the leader.
        boolean concernsNode = spec.name.equals("CARAVAN.CLUSTER") && (command.is(1, "DRAIN") || command.is(1, "HELP"));
        if (OWN_GROUPS.contains(spec.group) || OWN.contains(spec.name) || concernsNode) {
            return null;
        }
        GroupView group = slot < 0 ? cluster.group() : cluster.group(slot);
        return group == cluster.group() && cluster.leads() ? null : elsewhere(group, slot);
    }

    private static Reply.Error elsewhere(GroupView group, int slot) {
        ClusterNode node = group.leader().orElse(null);
        if (node == null) {
            return new Reply.Error(
                    "CLUSTERDOWN The cluster has no leader: an election is in progress, or the majority of"
                            + " the nodes cannot be reached. Nothing was changed");
        }
        return slot < 0
                ? new Reply.Error("ERR this node is a follower: send the command to the leader, node " + node.id()
                        + ", at " + node.resp())
                : new Reply.Error("MOVED " + slot + " " + node.resp().unbracketed());
    }

    /** Returns the reply to {@code CLUSTER INFO}. The slots of a Raft group without a leader count as failed. */
    private Reply info() {
        List<GroupView> groups = cluster.groups();
        List<GroupView> led =
                groups.stream().filter(group -> group.leader().isPresent()).toList();
        int ok = led.stream().mapToInt(group -> group.slots().count()).sum();
        return new Reply.Verbatim("cluster_state:" + (ok == Slots.COUNT ? "ok" : "fail")
                + "\r\ncluster_slots_assigned:" + Slots.COUNT
                + "\r\ncluster_slots_ok:" + ok
                + "\r\ncluster_slots_pfail:0\r\ncluster_slots_fail:" + (Slots.COUNT - ok)
                + "\r\ncluster_known_nodes:"
                + groups.stream().mapToInt(group -> group.nodes().size()).sum()
                + "\r\ncluster_size:" + led.size()
                + "\r\ncluster_current_epoch:" + cluster.term()
                + "\r\ncluster_my_epoch:" + cluster.term() + "\r\n");
    }

    private static Reply slots(GroupView group) {
        ClusterNode owner = group.owner();
        List<Reply> range = new ArrayList<>();
        range.add(new Reply.Number(group.slots().first()));
        range.add(new Reply.Number(group.slots().last()));
        range.add(node(group, owner));
        group.nodesExcept(owner).forEach(node -> range.add(node(group, node)));
        return new Reply.Array(range);
    }

    private static Reply node(GroupView group, ClusterNode node) {
        return Reply.Array.of(node.resp().host(), node.resp().port(), id(group, node), Reply.Array.EMPTY);
    }

    private static Reply id(GroupView group, ClusterNode node) {
        return Reply.Bulk.of(node.nodeId(group.id()));
    }

    private Reply ofEachGroup(Function<GroupView, Reply> reply) {
        return new Reply.Array(cluster.groups().stream().map(reply).toList());
    }

    private Reply shard(GroupView group) {
        ClusterNode owner = group.owner();
        List<Reply> nodes = new ArrayList<>();
        for (ClusterNode node : group.nodes()) {
            boolean leads = node.equals(owner);
            nodes.add(Reply.map(
                    "id", id(group, node),
                    "port", node.resp().port(),
                    "ip", node.resp().host(),
                    "endpoint", node.resp().host(),
                    "role", leads ? "master" : "replica",
                    "replication-offset", group == cluster.group() ? cluster.committed() : 0,
                    "health", cluster.reachable(node) ? "online" : "failed"));
        }
        return Reply.map(
                "slots", Reply.Array.of(group.slots().first(), group.slots().last()), "nodes", new Reply.Array(nodes));
    }

    /** Returns a line for each node, in the format of {@code CLUSTER NODES} in Redis. */
    private Reply nodes() {
        return new Reply.Verbatim(cluster.groups().stream()
                .flatMap(group -> group.nodes().stream().map(node -> line(group, node)))
                .collect(Collectors.joining()));
    }

    private String line(GroupView group, ClusterNode node) {
        ClusterNode owner = group.owner();
        boolean leads = node.equals(owner);
        boolean reachable = cluster.reachable(node);
        String flags = (node.equals(cluster.self()) ? "myself," : "")
                + (leads ? "master" : "slave")
                + (reachable ? "" : ",fail?");
        String follows = leads ? "-" : owner.nodeId(group.id());
        return node.nodeId(group.id()) + " " + node.resp().unbracketed() + "@"
                + node.peer().port() + " " + flags + " " + follows
                + " 0 0 " + (group == cluster.group() ? cluster.term() : 0)
                + (reachable ? " connected" : " disconnected")
                + (leads ? " " + group.slots() : "") + "\n";
    }

    private Reply role() {
        ClusterNode leader = cluster.leader().orElse(null);
        if (leader == null) {
            return Reply.Array.of("slave", "", 0, "connect", cluster.committed());
        }
        if (!cluster.leads()) {
            return Reply.Array.of(
                    "slave", leader.resp().host(), leader.resp().port(), "connected", cluster.committed());
        }
        List<Reply> replicas = cluster.group().nodesExcept(leader).stream()
                .<Reply>map(node -> Reply.Array.of(
                        node.resp().host(), String.valueOf(node.resp().port()), String.valueOf(cluster.committed())))
                .toList();
        return Reply.Array.of("master", cluster.committed(), new Reply.Array(replicas));
    }

    /** Counts the documents in a slot. Requires administrator permission, because the count scans all documents. */
    private Reply countInSlot(Session session, Command command) {
        session.require(Permission.ADMIN, "cluster|countkeysinslot");
        if (!cluster.leads()) {
            throw new CommandException("ERR this node is a follower: send the command to the leader");
        }
        long slot = command.count(2);
        if (slot >= Slots.COUNT) {
            throw new CommandException("ERR Invalid slot");
        }
        long count = 0;
        long cursor = 0;
        do {
            ScanPage page = documents.scan(cursor, PAGE_DOCUMENTS);
            count += page.documents().stream()
                    .filter(found -> Slots.of(found.name().toBytes()) == slot)
                    .count();
            cursor = page.next();
        } while (cursor != 0);
        return new Reply.Number(count);
    }

    private interface ClusterChange {
        void make() throws IOException;
    }

    private static Reply changed(ClusterChange change) {
        try {
            change.make();
        } catch (IOException rejected) {
            throw new CommandException("ERR " + rejected.getMessage());
        }
        return Reply.OK;
    }

    /** Removes and adds these nodes, if any. Returns the resulting members. */
    private Reply change(@Nullable String removed, @Nullable ClusterNode added) {
        changed(() -> cluster.changeMembers(removed, added));
        return Reply.map("nodes", cluster.nodes().stream().map(ClusterNode::id).collect(Collectors.joining(",")));
    }

    /** Runs a subcommand on a separate thread, because the subcommand may have to copy the store. */
    private static ResumableRead apart(Subcommands changes, PendingReply place) {
        return ResumableRead.<Reply>ofOperation(
                place,
                outcome -> {
                    Thread thread = new Thread(() -> run(changes, place, outcome), "caravan-cluster-change");
                    thread.setDaemon(true);
                    thread.start();
                },
                reply -> reply);
    }

    private static void run(Subcommands changes, PendingReply place, Outcome<Reply> outcome) {
        try {
            outcome.success(changes.run(place.session, place.command()));
        } catch (RuntimeException rejected) {
            outcome.failure(rejected);
        } catch (Error broken) {
            outcome.failure(new IllegalStateException("the change of the cluster failed", broken));
            throw broken;
        }
    }

    private static ClusterNode node(Command command, int first) {
        return new ClusterNode(
                command.shortText(first),
                HostPort.parse(command.shortText(first + 1)),
                HostPort.parse(command.shortText(first + 2)),
                HostPort.parse(command.shortText(first + 3)));
    }
}
