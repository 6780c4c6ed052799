package io.caravan.torture.group;

import io.caravan.Durability;
import io.caravan.StoreConfig;
import io.caravan.cluster.GroupConfig;
import io.caravan.cluster.Node;
import io.caravan.testing.FreePorts;
import io.caravan.torture.round.SmallStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;

/**
 * The description of a Raft group, which all processes of a run share.
 *
 * @param directory directory that contains a directory for each node
 */
record GroupPlan(Path directory, UUID group, List<Node> nodes) {
    static final int MAX_VALUE_BYTES = 8 * 1024;
    /**
     * The election timeout, which is short, so that leadership changes often. On a busy machine, leadership also
     * changes without a fault.
     */
    static final Duration ELECTION = Duration.ofMillis(300);

    /** The size of the retained Raft log: so small that a node that was down sometimes receives a snapshot. */
    static final long KEPT_LOG_BYTES = 1 << 20;

    /** Creates the plan and the directory of a new group of three nodes. */
    static GroupPlan make(Path directory) throws IOException {
        List<Node> nodes =
                Stream.of("a", "b", "c").map(id -> node(id, FreePorts.next())).toList();
        return new GroupPlan(Files.createDirectories(directory).toRealPath(), UUID.randomUUID(), nodes);
    }

    /** Creates a node with a host name that {@link GroupNetwork} resolves to an address. */
    private static Node node(String id, int port) {
        return new Node(id, "host-" + id, port);
    }

    List<String> toArguments(String self, boolean create) {
        List<String> arguments =
                new ArrayList<>(List.of(directory.toString(), group.toString(), self, Boolean.toString(create)));
        for (Node node : nodes) {
            arguments.add(node.id());
            arguments.add(Integer.toString(node.port()));
        }
        return arguments;
    }

    /** Creates the configuration of a node from the arguments that {@link #toArguments} returned. */
    static GroupConfig parse(String[] arguments) {
        List<Node> nodes = new ArrayList<>();
        for (int i = 4; i < arguments.length; i += 2) {
            nodes.add(node(arguments[i], Integer.parseInt(arguments[i + 1])));
        }
        GroupPlan plan = new GroupPlan(Path.of(arguments[0]), UUID.fromString(arguments[1]), nodes);
        String self = arguments[2];
        return new GroupConfig(
                plan.group,
                self,
                nodes,
                storeConfig(plan.store(self)),
                plan.raft(self),
                ELECTION,
                KEPT_LOG_BYTES,
                Boolean.parseBoolean(arguments[3]) ? GroupConfig.Start.CREATE : GroupConfig.Start.AGAIN,
                null);
    }

    static StoreConfig storeConfig(Path directory) {
        return SmallStore.builder(directory, MAX_VALUE_BYTES)
                .durability(Durability.PROCESS)
                .build();
    }

    /** Returns the directory with all files of a node, which represents its {@linkplain GroupDisks disk}. */
    Path nodeDirectory(String node) {
        return directory.resolve(node);
    }

    Path store(String node) {
        return nodeDirectory(node).resolve("store");
    }

    Path raft(String node) {
        return nodeDirectory(node).resolve("raft");
    }

    /** Returns the file to which the node writes the number of the port on which it listens for the harness. */
    Path portFile(String node) {
        return portFile(raft(node));
    }

    static Path portFile(Path raftDirectory) {
        Path parent = raftDirectory.resolveSibling(".").normalize();
        return parent.resolveSibling(parent.getFileName() + ".port");
    }

    Path log(String node) {
        return directory.resolve(node + ".log");
    }
}
