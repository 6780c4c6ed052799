package io.caravan.server.cli.serve;

import static io.caravan.server.config.Quantities.check;

import io.caravan.StoreConfig;
import io.caravan.StoreDirectoryException;
import io.caravan.cluster.GroupConfig;
import io.caravan.cluster.GroupMember;
import io.caravan.server.cluster.Cluster;
import io.caravan.server.cluster.ClusterFile;
import io.caravan.server.cluster.ClusterNode;
import io.caravan.server.config.Quantities;
import io.caravan.server.net.PemPair;
import io.netty.handler.ssl.SslContextBuilder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.HashSet;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options for the cluster to which the server belongs. */
final class ClusterOptions {
    @Option(
            names = "--cluster-file",
            paramLabel = "FILE",
            description = "File with the nodes of the cluster, the same on each node. Its addresses replace --resp"
                    + " and --http.")
    private @Nullable Path file;

    @Option(names = "--cluster-node", paramLabel = "ID", description = "Id of this node in the cluster file.")
    private @Nullable String node;

    @Option(
            names = "--cluster-create",
            arity = "0..1",
            fallbackValue = "true",
            defaultValue = "false",
            paramLabel = "BOOL",
            description = "Marks the first start of this node, in a new cluster. Rejected if the directory is not"
                    + " empty.")
    private boolean create;

    @Option(
            names = "--cluster-join",
            arity = "0..1",
            fallbackValue = "true",
            defaultValue = "false",
            paramLabel = "BOOL",
            description = "Marks the first start of this node, in an existing cluster: the node waits for 'caravan"
                    + " cluster add' or 'replace'. Rejected if the directory is not empty.")
    private boolean join;

    @Option(
            names = "--cluster-election",
            paramLabel = "TIME",
            defaultValue = "1s",
            converter = Quantities.Time.class,
            description = "Minimum election timeout, the time for which a node waits for a silent leader before it"
                    + " starts an election, from 50ms to 1m. The maximum is twice this time.")
    private Duration election;

    @Option(
            names = "--cluster-log-retention",
            paramLabel = "SIZE",
            defaultValue = "4GiB",
            converter = Quantities.Bytes.class,
            description = "Length of the Raft log that a node keeps for nodes that lag behind, at least 1MiB. A node"
                    + " that lags further behind receives a snapshot of the leader's store.")
    private long keptLog;

    @Option(
            names = "--cluster-reads",
            paramLabel = "WHO",
            defaultValue = "leader",
            description = "Read consistency: leader, or linearizable, for which a quorum confirms leadership. Should"
                    + " be the same on all nodes, because the setting of the leader applies.")
    private Reads reads;

    @Option(
            names = "--cluster-cert",
            paramLabel = "FILE",
            description = "File with the certificate that this node presents to other nodes, and the intermediate"
                    + " certificates, PEM. The nodes then use TLS and authenticate each other.")
    private @Nullable Path cert;

    @Option(
            names = "--cluster-key",
            paramLabel = "FILE",
            description = "File with the private key of this certificate, PEM (PKCS #8), without a password.")
    private @Nullable Path key;

    @Option(
            names = "--cluster-ca",
            paramLabel = "FILE",
            description = "File with the authorities that sign the certificates of all nodes, and that of"
                    + " --tls-cert, PEM.")
    private @Nullable Path ca;

    enum Reads {
        LEADER,
        LINEARIZABLE
    }

    /** Whether the server is a single server, not a node of a cluster. */
    boolean alone() {
        check((file == null) == (node == null), "--cluster-file and --cluster-node require each other");
        check(
                file != null || reads == Reads.LEADER,
                "--cluster-reads linearizable requires --cluster-file: the reads of a single server are linearizable");
        return file == null;
    }

    /** Returns the cluster; {@code tls} if clients use TLS, and therefore nodes that forward their requests. */
    Cluster cluster(boolean tls) throws IOException {
        GroupConfig.Tls peers = peerTls();
        check(
                !tls || peers != null,
                "--tls-cert in a cluster requires --cluster-cert, --cluster-key and --cluster-ca, because nodes forward"
                        + " requests to each other");
        return new Cluster(
                ClusterFile.read(Objects.requireNonNull(file)),
                Objects.requireNonNull(node),
                !tls || peers == null
                        ? null
                        : SslContextBuilder.forClient()
                                .trustManager(peers.authority().toFile())
                                .keyManager(
                                        peers.certificates().toFile(),
                                        peers.key().toFile())
                                .build(),
                reads == Reads.LINEARIZABLE,
                InstantSource.system());
    }

    private GroupConfig.@Nullable Tls peerTls() throws IOException {
        if (cert == null || key == null || ca == null) {
            check(
                    cert == null && key == null && ca == null,
                    "--cluster-cert, --cluster-key and --cluster-ca require each other");
            return null;
        }
        GroupConfig.Tls tls = new GroupConfig.Tls(key, cert, ca);
        PemPair.read(tls.certificates(), tls.key());
        return tls;
    }

    /** Returns the settings of this node's Raft group; {@code data} may contain only the replica and the Raft log. */
    GroupConfig group(Cluster cluster, Path data, StoreConfig replica) throws IOException {
        requireOurs(data, replica.directory());
        return new GroupConfig(
                cluster.group().id(),
                cluster.self().id(),
                cluster.nodes().stream().map(ClusterNode::member).toList(),
                replica,
                data.resolve(Cluster.RAFT_DIRECTORY),
                election,
                keptLog,
                firstStart(cluster),
                peerTls());
    }

    private GroupConfig.Start firstStart(Cluster cluster) {
        check(!create || !join, "--cluster-create is for a new cluster, --cluster-join for an existing one");
        int nodes = cluster.nodes().size();
        check(
                !create || nodes == 3 || nodes == 5,
                "a new cluster and each of its Raft groups have three or five nodes, so that a majority survives the"
                        + " loss of one or two nodes; there are "
                        + nodes);
        if (join) {
            return GroupConfig.Start.JOIN;
        }
        return create ? GroupConfig.Start.CREATE : GroupConfig.Start.AGAIN;
    }

    private static void requireOurs(Path data, Path store) throws IOException {
        if (!Files.isDirectory(data)) {
            return;
        }
        // The root directory of a dedicated disk contains lost+found.
        Set<Path> ours = new HashSet<>(Set.of(store, data.resolve(Cluster.RAFT_DIRECTORY), data.resolve("lost+found")));
        ours.addAll(GroupMember.adjacentDirectories(store));
        try (Stream<Path> found = Files.list(data)) {
            if (!found.allMatch(ours::contains)) {
                throw new StoreDirectoryException(
                        data + " contains other files than those of a cluster node, such as a store of a single server:"
                                + " choose another directory with --data");
            }
        }
    }
}
