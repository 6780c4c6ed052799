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
 * What one host must know of its group.
 *
 * @param group names the group; all hosts have the same, and no other group does
 * @param self this host's id
 * @param hosts all hosts of a new group, this one included: three or five, so that a majority is left when one or two are
 *     lost. Later the group's Raft log says which hosts there are; this host must be among these all the same
 * @param store the replica, of {@link Durability#PROCESS}; its log segments have the same size on every host. Buffers and
 *     the limit of values may differ, as while they are changed host by host: each host takes from clients what it is set
 *     to, and from the group all that was committed
 * @param raftDirectory where the Raft log is; on a disk that keeps what was forced
 * @param election how long a follower waits for its leader before it stands for election; twice that at most. Shorter
 *     finds a dead leader sooner, and mistakes a slow one for dead more often
 * @param keptLogBytes how much of the Raft log a host keeps for others that are behind, at least 1 MiB: a host that lacks
 *     more when it comes back is sent the store's files. What this host's own store still needs is kept besides
 * @param start whether this is the host's first start
 * @param tls how hosts prove who they are; null trusts whoever reaches the port
 */
public record GroupConfig(
        UUID group,
        String self,
        List<Host> hosts,
        StoreConfig store,
        Path raftDirectory,
        Duration election,
        long keptLogBytes,
        Start start,
        @Nullable Tls tls) {
    /** Which start of the host this is. */
    public enum Start {
        /** The first, in a new group whose other hosts have theirs, too; its directories must be empty. */
        CREATE,
        /**
         * The first, in a group that is there already; its directories must be empty. The host waits until it is
         * {@linkplain GroupMember#add added}.
         */
        JOIN,
        /**
         * A later one. Empty directories are refused: a host that has forgotten what it acknowledged must not vote, or
         * what it acknowledged may be lost.
         */
        AGAIN
    }

    /**
     * The longest frame that a Raft entry may carry, in bytes: one value of the greatest length fits. It is the same for all
     * hosts, so that each takes what any other proposes, whatever buffers it has itself.
     */
    public static final int MAX_FRAME_BYTES = 33 << 20;

    /** Some minutes of many writes, and what is copied sooner than the files of a large store. */
    public static final long DEFAULT_KEPT_LOG_BYTES = 4L << 30;

    private static final long LEAST_KEPT_LOG_BYTES = 1 << 20;

    /** For hosts in one rack. */
    public static final Duration DEFAULT_ELECTION = Duration.ofSeconds(1);

    /**
     * Files in PEM format. Hosts trust each other's certificates when this authority has signed them, and serve nobody
     * else.
     *
     * @param key the host's private key, PKCS #8
     * @param certificates its certificate, and those between it and the authority; names the address of the host
     * @param authority whom to trust
     */
    public record Tls(Path key, Path certificates, Path authority) {}

    public GroupConfig {
        Objects.requireNonNull(group, "group");
        Objects.requireNonNull(raftDirectory, "raftDirectory");
        hosts = List.copyOf(hosts);
        if (hosts.stream().map(Host::id).distinct().count() != hosts.size()) {
            throw new IllegalArgumentException("two hosts of the group have the same id: " + hosts);
        }
        if (hosts.stream().map(Host::authority).distinct().count() != hosts.size()) {
            throw new IllegalArgumentException("two hosts of the group have the same address: " + hosts);
        }
        String name = self;
        if (hosts.stream().noneMatch(host -> host.id().equals(name))) {
            throw new IllegalArgumentException("this host, " + self + ", is not one of the group's: " + hosts);
        }
        if (store.logBufferBytes() > MAX_FRAME_BYTES) {
            throw new IllegalArgumentException("logBufferBytes is at most " + MAX_FRAME_BYTES
                    + " in a group, as a frame is one Raft entry; was " + store.logBufferBytes());
        }
        if (election.compareTo(Duration.ofMillis(50)) < 0 || election.compareTo(Duration.ofMinutes(1)) > 0) {
            throw new IllegalArgumentException("election must be 50 ms to 1 min, was " + election);
        }
        if (keptLogBytes < LEAST_KEPT_LOG_BYTES) {
            throw new IllegalArgumentException("keptLogBytes must be at least 1 MiB, was " + keptLogBytes);
        }
    }

    /** This host. */
    public Host selfHost() {
        return hosts.stream().filter(host -> host.id().equals(self)).findFirst().orElseThrow();
    }

    /** What every replica of the group is called. */
    long storeId() {
        return group.getMostSignificantBits() ^ group.getLeastSignificantBits();
    }
}
