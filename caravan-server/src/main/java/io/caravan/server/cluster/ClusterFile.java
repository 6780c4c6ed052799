package io.caravan.server.cluster;

import io.caravan.server.config.HostPort;
import io.caravan.server.config.Quantities;
import io.caravan.server.config.UserFiles;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The configuration of a cluster, in a file that is the same on all nodes: its id and, for each node, three addresses.
 *
 * <pre>{@code
 * cluster = 3f0c5a52-5d3e-4f3c-9a44-0c0a6d1f7b10
 * a.peer  = 10.0.0.1:7000
 * a.resp  = 10.0.0.1:6380
 * a.http  = 10.0.0.1:4437
 * }</pre>
 *
 * <p>With several groups, each node has a fourth line, {@code a.slots = 0-8191}. Nodes with the same slots form a
 * group. The groups are in the order of their slots, and together have every slot exactly once.
 */
public record ClusterFile(UUID id, List<ClusterGroup> groups) {
    private static final String CLUSTER = "cluster";
    private static final String SLOTS = ".slots";
    private static final Set<String> OF_NODES = Set.of("peer", "resp", "http", "slots");

    public ClusterFile {
        groups = List.copyOf(groups);
    }

    /** Creates the configuration of a cluster with a group for each range of slots. */
    public static ClusterFile of(UUID id, Map<SlotRange, List<ClusterNode>> groups) {
        return new ClusterFile(
                id,
                groups.entrySet().stream()
                        .map(group -> ClusterGroup.of(id, group.getKey(), group.getValue()))
                        .sorted(Comparator.comparing(ClusterGroup::slots))
                        .toList());
    }

    /** Reads a cluster file; the message of the {@link IOException} for an invalid one contains its name. */
    public static ClusterFile read(Path file) throws IOException {
        Map<String, String> lines = UserFiles.properties(file);
        try {
            return of(lines);
        } catch (IllegalArgumentException wrong) {
            throw new IOException(file + ": " + wrong.getMessage(), wrong);
        }
    }

    private static ClusterFile of(Map<String, String> lines) {
        Map<SlotRange, List<ClusterNode>> nodes = new TreeMap<>();
        Set<HostPort> taken = new LinkedHashSet<>();
        for (String id : ids(lines)) {
            ClusterNode node = new ClusterNode(
                    id,
                    value(lines, id + ".peer", ClusterFile::address),
                    value(lines, id + ".resp", ClusterFile::address),
                    value(lines, id + ".http", ClusterFile::address));
            // Rejects an id that no member may have.
            node.member();
            for (HostPort address : node.addresses()) {
                Quantities.check(taken.add(address), "the address " + address + " occurs twice");
            }
            SlotRange slots =
                    lines.containsKey(id + SLOTS) ? value(lines, id + SLOTS, SlotRange::parse) : SlotRange.ALL;
            nodes.computeIfAbsent(slots, each -> new ArrayList<>()).add(node);
        }
        requireEachSlotOnce(nodes.keySet());
        return of(cluster(lines.get(CLUSTER)), nodes);
    }

    private static Set<String> ids(Map<String, String> lines) {
        Set<String> ids = new LinkedHashSet<>();
        for (String name : lines.keySet()) {
            int dot = name.lastIndexOf('.');
            if (dot > 0 && OF_NODES.contains(name.substring(dot + 1))) {
                ids.add(name.substring(0, dot));
            } else if (!name.equals(CLUSTER)) {
                throw new IllegalArgumentException(
                        "'" + name + "' is not 'cluster', and not the id of a node with .peer,"
                                + " .resp, .http or .slots behind it");
            }
        }
        return ids;
    }

    private static void requireEachSlotOnce(Set<SlotRange> inOrder) {
        int next = 0;
        for (SlotRange slots : inOrder) {
            Quantities.check(
                    slots.first() == next,
                    "the groups must have each slot exactly once, and a node without .slots has all: the next slot is "
                            + next + ", but the next group's are " + slots + ", of " + inOrder);
            next = slots.last() + 1;
        }
        Quantities.check(
                next == Slots.COUNT || inOrder.isEmpty(),
                "no node has the slots from " + next + " to " + (Slots.COUNT - 1));
    }

    private static UUID cluster(@Nullable String text) {
        try {
            return UUID.fromString(String.valueOf(text));
        } catch (IllegalArgumentException wrong) {
            throw new IllegalArgumentException(
                    "'cluster' must be a UUID, such as uuidgen prints, that no other cluster has; was " + text, wrong);
        }
    }

    private static <T> T value(Map<String, String> lines, String name, Function<String, T> parser) {
        String text = lines.get(name);
        if (text == null) {
            throw new IllegalArgumentException("'" + name + "' is missing");
        }
        try {
            return parser.apply(text);
        } catch (IllegalArgumentException wrong) {
            throw new IllegalArgumentException("'" + name + "': " + wrong.getMessage(), wrong);
        }
    }

    private static HostPort address(String text) {
        HostPort address = HostPort.parse(text);
        Quantities.check(address.port() != 0, "the port must be known to the others, so it cannot be 0");
        return address;
    }

    /** Returns the initial nodes of the cluster. Each group records its current members itself. */
    public List<ClusterNode> nodes() {
        return groups.stream().flatMap(group -> group.nodes().stream()).toList();
    }

    /** Returns a node; throws {@link IllegalArgumentException} if there is none with this id. */
    public ClusterNode node(String id) {
        return nodes().stream()
                .filter(node -> node.id().equals(id))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("the cluster has no node '" + id + "'; its nodes are "
                        + nodes().stream().map(ClusterNode::id).toList()));
    }

    /** Returns the group of a node, as {@link #node} does. */
    public ClusterGroup groupOf(String id) {
        ClusterNode node = node(id);
        return groups.stream()
                .filter(group -> group.nodes().contains(node))
                .findFirst()
                .orElseThrow();
    }
}
