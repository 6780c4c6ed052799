package io.caravan.server.protocol.resp.commands;

import static io.caravan.server.protocol.resp.dispatch.CommandSpec.Keys.NONE;
import static io.caravan.server.protocol.resp.dispatch.CommandSpec.connection;
import static io.caravan.server.protocol.resp.dispatch.CommandSpec.server;

import io.caravan.server.cluster.Cluster;
import io.caravan.server.cluster.ClusterHost;
import io.caravan.server.cluster.Slots;
import io.caravan.server.config.HostPort;
import io.caravan.server.document.DocumentService;
import io.caravan.server.document.Outcome;
import io.caravan.server.document.ScanPage;
import io.caravan.server.protocol.resp.codec.Command;
import io.caravan.server.protocol.resp.codec.CommandException;
import io.caravan.server.protocol.resp.codec.Reply;
import io.caravan.server.protocol.resp.dispatch.CommandSpec;
import io.caravan.server.protocol.resp.dispatch.CommandSpec.Access;
import io.caravan.server.protocol.resp.dispatch.Reading;
import io.caravan.server.protocol.resp.dispatch.Session;
import io.caravan.server.protocol.resp.dispatch.Subcommands;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** What Redis's cluster clients ask to find the host that leads, and moving leadership. */
public final class ClusterCommands {
    private static final Duration TRANSFER_TIMEOUT = Duration.ofSeconds(5);

    /** Documents that are looked at together. */
    private static final int PAGE_DOCUMENTS = 1_000;

    private final Cluster cluster;
    private final DocumentService documents;
    private final Subcommands subcommands;

    private ClusterCommands(Cluster cluster, DocumentService documents) {
        this.cluster = cluster;
        this.documents = documents;
        this.subcommands = new Subcommands("CLUSTER")
                .add("COUNTKEYSINSLOT", "slot", 1, 1, (session, command) -> countInSlot(command))
                .add("INFO", "", 0, 0, (session, command) -> info())
                .add("KEYSLOT", "key", 1, 1, (session, command) -> new Reply.Number(Slots.of(command.word(2))))
                .add("MYID", "", 0, 0, (session, command) -> id(cluster.self()))
                .add("NODES", "", 0, 0, (session, command) -> nodes())
                .add("SHARDS", "", 0, 0, (session, command) -> shards())
                .add("SLOTS", "", 0, 0, (session, command) -> slots());
    }

    /** The commands of a server that is part of this cluster: none without one. */
    public static List<CommandSpec> all(@Nullable Cluster cluster, DocumentService documents) {
        if (cluster == null) {
            return List.of();
        }
        ClusterCommands commands = new ClusterCommands(cluster, documents);
        return List.of(
                server("CLUSTER", -2, NONE, "", "Describes the cluster: which host leads, and which follow.")
                        .waiting(commands.subcommands::run),
                server("ROLE", 1, NONE, "fast", "Tells whether this host leads, and which hosts there are besides.")
                        .immediate((session, command) -> commands.role()),
                connection("READONLY", 1, "Accepted; reads run on the host that leads.")
                        .immediate((session, command) -> Reply.OK),
                connection("READWRITE", 1, "Accepted; reads run on the host that leads.")
                        .immediate((session, command) -> Reply.OK),
                connection("ASKING", 1, "Accepted; slots never move.").immediate((session, command) -> Reply.OK),
                server("CARAVAN.TRANSFER", 2, NONE, "", "Hands leadership to another host, and answers when it leads.")
                        .access(Access.ADMIN)
                        .waiting(commands::transfer),
                server("CARAVAN.DRAIN", 2, NONE, "", "Keeps leadership away from this host (ON), or no longer (OFF).")
                        .access(Access.ADMIN)
                        .waiting(commands::drain),
                server("CARAVAN.HOSTS", -3, NONE, "", "Adds, removes or replaces a host, and answers when it is done.")
                        .access(Access.ADMIN)
                        .waitingInTurns(commands::change));
    }

    private Reply id(ClusterHost host) {
        return Reply.Bulk.of(host.nodeId(cluster.group()));
    }

    /** The host that leads has all slots. */
    private Reply info() {
        boolean ok = cluster.leader().isPresent();
        return new Reply.Verbatim("cluster_state:" + (ok ? "ok" : "fail")
                + "\r\ncluster_slots_assigned:" + Slots.COUNT
                + "\r\ncluster_slots_ok:" + (ok ? Slots.COUNT : 0)
                + "\r\ncluster_slots_pfail:0\r\ncluster_slots_fail:" + (ok ? 0 : Slots.COUNT)
                + "\r\ncluster_known_nodes:" + cluster.hosts().size()
                + "\r\ncluster_size:" + (ok ? 1 : 0)
                + "\r\ncluster_current_epoch:" + cluster.term()
                + "\r\ncluster_my_epoch:" + cluster.term() + "\r\n");
    }

    private List<ClusterHost> followers(ClusterHost leader) {
        return cluster.hosts().stream().filter(host -> !host.equals(leader)).toList();
    }

    private Reply slots() {
        ClusterHost owner = cluster.owner();
        List<Reply> range = new ArrayList<>();
        range.add(new Reply.Number(0));
        range.add(new Reply.Number(Slots.COUNT - 1));
        range.add(node(owner));
        followers(owner).forEach(host -> range.add(node(host)));
        return Reply.Array.of(new Reply.Array(range));
    }

    private Reply node(ClusterHost host) {
        return Reply.Array.of(host.resp().host(), host.resp().port(), id(host), Reply.Array.EMPTY);
    }

    private Reply shards() {
        ClusterHost owner = cluster.owner();
        List<Reply> nodes = new ArrayList<>();
        for (ClusterHost host : cluster.hosts()) {
            boolean leads = host.equals(owner);
            nodes.add(Reply.Fields.of(
                    "id",
                    id(host),
                    "port",
                    host.resp().port(),
                    "ip",
                    host.resp().host(),
                    "endpoint",
                    host.resp().host(),
                    "role",
                    leads ? "master" : "replica",
                    "replication-offset",
                    cluster.committed(),
                    "health",
                    ClusterStatus.reachable(cluster, host) ? "online" : "failed"));
        }
        return Reply.Array.of(
                Reply.Fields.of("slots", Reply.Array.of(0, Slots.COUNT - 1), "nodes", new Reply.Array(nodes)));
    }

    /** A line for each host, as Redis writes them: id, address, flags, leader, two times, epoch, link, slots. */
    private Reply nodes() {
        ClusterHost owner = cluster.owner();
        return new Reply.Verbatim(
                cluster.hosts().stream().map(host -> line(host, owner)).collect(Collectors.joining()));
    }

    private String line(ClusterHost host, ClusterHost owner) {
        boolean leads = host.equals(owner);
        boolean reachable = ClusterStatus.reachable(cluster, host);
        String flags = (host.equals(cluster.self()) ? "myself," : "")
                + (leads ? "master" : "slave")
                + (reachable ? "" : ",fail?");
        String follows = leads ? "-" : owner.nodeId(cluster.group());
        return host.nodeId(cluster.group()) + " " + host.resp() + "@"
                + host.peer().port() + " " + flags + " " + follows
                + " 0 0 " + cluster.term() + (reachable ? " connected" : " disconnected")
                + (leads ? " 0-" + (Slots.COUNT - 1) : "") + "\n";
    }

    private Reply role() {
        ClusterHost leader = cluster.leader().orElse(null);
        if (leader == null) {
            return Reply.Array.of("slave", "", 0, "connect", cluster.committed());
        }
        if (!cluster.leads()) {
            return Reply.Array.of(
                    "slave", leader.resp().host(), leader.resp().port(), "connected", cluster.committed());
        }
        List<Reply> replicas = followers(leader).stream()
                .<Reply>map(host -> Reply.Array.of(
                        host.resp().host(), String.valueOf(host.resp().port()), String.valueOf(cluster.committed())))
                .toList();
        return Reply.Array.of("master", cluster.committed(), new Reply.Array(replicas));
    }

    /** Looks at every document. */
    private Reply countInSlot(Command command) {
        if (!cluster.leads()) {
            throw new CommandException("ERR this host follows: ask the one that leads");
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

    private Reply drain(Session session, Command command) {
        String way = command.shortText(1).toUpperCase(Locale.ROOT);
        if (!way.equals("ON") && !way.equals("OFF")) {
            throw new CommandException("ERR say ON or OFF");
        }
        try {
            cluster.drain(way.equals("ON"));
            return Reply.OK;
        } catch (IOException refused) {
            throw new CommandException("ERR " + refused.getMessage());
        }
    }

    /** A change of the cluster's hosts. */
    private interface HostsChange {
        void make() throws IOException;
    }

    private Reading change(Session session, Command command, Reading.Context context) {
        HostsChange change = hostsChange(command);
        return new Waiting<List<String>>(
                outcome -> startThread(change, outcome),
                hosts -> Reply.Fields.of("hosts", String.join(",", hosts)),
                context);
    }

    private HostsChange hostsChange(Command command) {
        int words = command.size() - 2;
        if (command.is(1, "ADD") && words == 4) {
            ClusterHost host = host(command, 2);
            return () -> cluster.add(host);
        }
        if (command.is(1, "REMOVE") && words == 1) {
            String host = command.shortText(2);
            return () -> cluster.remove(host);
        }
        if (command.is(1, "REPLACE") && words == 5) {
            String host = command.shortText(2);
            ClusterHost by = host(command, 3);
            return () -> cluster.replace(host, by);
        }
        throw new CommandException("ERR say ADD host peer resp http, REMOVE host, or REPLACE host host peer resp http");
    }

    private static ClusterHost host(Command command, int first) {
        return new ClusterHost(
                command.shortText(first),
                HostPort.parse(command.shortText(first + 1)),
                HostPort.parse(command.shortText(first + 2)),
                HostPort.parse(command.shortText(first + 3)));
    }

    /** It may take as long as to copy the store. */
    private void startThread(HostsChange change, Outcome<List<String>> outcome) {
        Thread thread = new Thread(() -> make(change, outcome), "caravan-hosts");
        thread.setDaemon(true);
        thread.start();
    }

    private void make(HostsChange change, Outcome<List<String>> outcome) {
        try {
            change.make();
            outcome.success(cluster.hosts().stream().map(ClusterHost::id).toList());
        } catch (IOException refused) {
            outcome.failure(new CommandException("ERR " + refused.getMessage()));
        } catch (RuntimeException refused) {
            outcome.failure(refused);
        } catch (Error broken) {
            outcome.failure(new IllegalStateException("the change of the hosts broke off", broken));
            throw broken;
        }
    }

    private Reply transfer(Session session, Command command) {
        try {
            cluster.transfer(command.shortText(1), TRANSFER_TIMEOUT);
            return Reply.OK;
        } catch (IOException refused) {
            throw new CommandException("ERR " + refused.getMessage());
        }
    }
}
