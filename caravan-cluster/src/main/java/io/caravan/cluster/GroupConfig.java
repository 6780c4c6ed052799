package io.caravan.cluster;

import io.caravan.Durability;
import io.caravan.StoreConfig;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The configuration of one node of a Raft group.
 *
 * @param group the id of the group: the same on all of its nodes, and different from the id of any other group
 * @param self this node's id
 * @param nodes all nodes of a new group, including this one: three or five, so that a majority remains when one or two
 *     nodes, respectively, are lost. Later, the group's Raft log determines the members, but {@code nodes} must still
 *     contain this node
 * @param store the configuration of the replica, with {@link Durability#PROCESS}; log segments have the same size on
 *     every node. Buffers and the maximum value size may differ, for example while they are changed node by node. A
 *     node applies its own limits to clients' writes, but accepts every write that the group has committed
 * @param raftDirectory the directory of the Raft log, on a disk that keeps fsynced data
 * @param election the minimum time that a follower waits for its leader before it starts an election; the maximum is
 *     twice this time. A shorter time detects a failed leader sooner, but more often mistakes a slow leader for a
 *     failed leader
 * @param keptLogBytes the size of the Raft log that a node keeps for nodes that lag, at least 1 MiB. A node that lacks
 *     purged entries when it returns receives a snapshot. In addition, a node keeps the part of the log that its own
 *     store still needs
 * @param start whether this is the node's first start, and whether the group is new
 * @param tls the files with which nodes authenticate; null to trust every client that can reach the port
 */
public record GroupConfig(
        UUID group,
        String self,
        List<Node> nodes,
        StoreConfig store,
        Path raftDirectory,
        Duration election,
        long keptLogBytes,
        Start start,
        @Nullable Tls tls) {
    /** The kind of a node's start: its first start, in a new or an existing group, or a later start. */
    public enum Start {
        /** The first start, with empty directories, in a new group whose other nodes also start first. */
        CREATE,
        /**
         * The first start, in a group that already exists; the node's directories must be empty. The node waits until
         * it is {@linkplain GroupMember#changeMembers added}.
         */
        JOIN,
        /** A later start. Empty directories are rejected: a node that has lost writes must not vote. */
        AGAIN
    }

    /**
     * The maximum size of a frame in a Raft entry, in bytes: large enough for one value of the maximum size. It is the
     * same on all nodes, so that each accepts the proposals of all others, regardless of its own buffers.
     */
    public static final int MAX_FRAME_BYTES = 33 << 20;

    /** The default size of the retained Raft log, for several minutes of heavy writes. */
    public static final long DEFAULT_KEPT_LOG_BYTES = 4L << 30;

    private static final long LEAST_KEPT_LOG_BYTES = 1 << 20;

    /** The default election timeout, for nodes in one rack. */
    public static final Duration DEFAULT_ELECTION = Duration.ofSeconds(1);

    /**
     * The TLS files, in PEM format. Nodes trust certificates that this authority has signed, and reject all others.
     *
     * @param key the node's private key, PKCS #8
     * @param certificates the node's certificate, which contains its address, and the intermediate certificates up to
     *     the authority
     * @param authority the trusted authority
     */
    public record Tls(Path key, Path certificates, Path authority) {}

    public GroupConfig {
        Objects.requireNonNull(group, "group");
        Objects.requireNonNull(raftDirectory, "raftDirectory");
        nodes = List.copyOf(nodes);
        if (nodes.stream().map(Node::id).distinct().count() != nodes.size()) {
            throw new IllegalArgumentException("two nodes of the group have the same id: " + nodes);
        }
        if (nodes.stream().map(Node::authority).distinct().count() != nodes.size()) {
            throw new IllegalArgumentException("two nodes of the group have the same address: " + nodes);
        }
        String name = self;
        if (nodes.stream().noneMatch(node -> node.id().equals(name))) {
            throw new IllegalArgumentException(
                    "this node, " + self + ", is not one of the nodes of the group: " + nodes);
        }
        if (store.logBufferBytes() > MAX_FRAME_BYTES) {
            throw new IllegalArgumentException("logBufferBytes must be at most " + MAX_FRAME_BYTES
                    + " in a group, because a frame is one Raft entry; was " + store.logBufferBytes());
        }
        if (election.compareTo(Duration.ofMillis(50)) < 0 || election.compareTo(Duration.ofMinutes(1)) > 0) {
            throw new IllegalArgumentException("election must be 50 ms to 1 min, was " + election);
        }
        if (keptLogBytes < LEAST_KEPT_LOG_BYTES) {
            throw new IllegalArgumentException("keptLogBytes must be at least 1 MiB, was " + keptLogBytes);
        }
    }

    /** Returns this node. */
    public Node selfNode() {
        return nodes.stream().filter(node -> node.id().equals(self)).findFirst().orElseThrow();
    }

    /** Returns the store id, which all replicas of the group share. */
    long storeId() {
        return group.getMostSignificantBits() ^ group.getLeastSignificantBits();
    }
}
