package io.caravan.cluster;

import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.apache.ratis.RaftConfigKeys;
import org.apache.ratis.client.RaftClient;
import org.apache.ratis.client.RaftClientConfigKeys;
import org.apache.ratis.conf.Parameters;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.grpc.GrpcConfigKeys;
import org.apache.ratis.grpc.GrpcTlsConfig;
import org.apache.ratis.protocol.RaftGroup;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.retry.RetryPolicies;
import org.apache.ratis.rpc.SupportedRpcType;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.RaftServerConfigKeys;
import org.apache.ratis.util.SizeInBytes;
import org.apache.ratis.util.TimeDuration;
import org.jspecify.annotations.Nullable;

/** The Raft configuration of a node. */
final class RaftSettings {
    /** The maximum size of an entry, a frame and its envelope: the same on all nodes. */
    private static final SizeInBytes ENTRY = SizeInBytes.valueOf(GroupConfig.MAX_FRAME_BYTES + (1 << 20));

    /** The maximum number of append messages in flight to a node; each may be as large as the largest entry. */
    private static final int MESSAGES_ON_THE_WAY = 2;

    /** The bytes of the Raft log that are preallocated with zeros, so that an fsync need not record a new length. */
    private static final long PREALLOCATED_BYTES = 4 << 20;

    /** The time after which the leader gives up on a joining node that does not respond. */
    private static final long JOINING_MILLIS = 10_000;

    private RaftSettings() {}

    static RaftProperties properties(GroupConfig config) {
        RaftProperties properties = new RaftProperties();
        Node self = config.selfNode();
        RaftConfigKeys.Rpc.setType(properties, SupportedRpcType.GRPC);
        GrpcConfigKeys.Server.setHost(properties, self.address());
        GrpcConfigKeys.Server.setPort(properties, self.port());
        RaftServerConfigKeys.setStorageDir(
                properties, List.of(config.raftDirectory().toFile()));

        long election = config.election().toMillis();
        RaftServerConfigKeys.Rpc.setTimeoutMin(properties, millis(election));
        RaftServerConfigKeys.Rpc.setTimeoutMax(properties, millis(longestElectionMillis(config)));
        RaftServerConfigKeys.Rpc.setRequestTimeout(properties, millis(2 * election));
        // A leader that lost its majority must start an election no later than the other nodes. If the other nodes lack
        // entries, the group has no leader until that election. Ratis also uses this value as the JVM pause after which
        // a leader steps down.
        RaftServerConfigKeys.LeaderElection.setLeaderStepDownWaitTime(
                properties, millis(longestElectionMillis(config)));

        RaftServerConfigKeys.setStagingTimeout(properties, millis(Math.max(JOINING_MILLIS, 6 * election)));

        RaftServerConfigKeys.Log.Appender.setBufferByteLimit(properties, ENTRY);
        RaftServerConfigKeys.Log.setWriteBufferSize(properties, SizeInBytes.valueOf(ENTRY.getSize() + Long.BYTES));
        GrpcConfigKeys.Server.setLeaderOutstandingAppendsMax(properties, MESSAGES_ON_THE_WAY);
        SizeInBytes segment = SizeInBytes.valueOf(RaftLogPurger.segmentBytes(config.keptLogBytes()));
        RaftServerConfigKeys.Log.setSegmentSizeMax(properties, segment);
        RaftServerConfigKeys.Log.setPreallocatedSize(
                properties, SizeInBytes.valueOf(Math.min(segment.getSize(), PREALLOCATED_BYTES)));
        GrpcConfigKeys.setMessageSizeMax(properties, SizeInBytes.valueOf(2 * ENTRY.getSize()));
        // Otherwise a follower checks the leader's term at once, but appends only after the fsyncs of earlier entries.
        // In between it may vote for another leader, and its reply then commits entries that the new leader does not
        // have.
        RaftServerConfigKeys.Log.setAppendEntriesComposeEnabled(properties, false);
        // Metadata entries, from which a starting node reads the commit index, would be sent and fsynced after each
        // other entry. The leader reports the commit index anyway.
        RaftServerConfigKeys.Log.setLogMetadataEnabled(properties, false);
        // Ratis sends each entry at once, even if the last message is less than a millisecond old. A node that does not
        // respond is contacted only with heartbeats; otherwise Ratis would contact it without a pause.
        RaftServerConfigKeys.Log.Appender.setWaitTimeMin(properties, millis(0));
        RaftServerConfigKeys.Rpc.setSlownessTimeout(properties, millis(longestElectionMillis(config)));
        RaftServerConfigKeys.Log.Appender.setRetryPolicy(properties, "1ms,10,200ms,1000000000");

        // RaftLogPurger purges the log in complete segments; a node that lags behind it receives a snapshot through
        // SnapshotReceiver.
        RaftServerConfigKeys.Log.Appender.setInstallSnapshotEnabled(properties, false);
        RaftServerConfigKeys.Snapshot.setAutoTriggerEnabled(properties, false);
        RaftServerConfigKeys.Snapshot.setTriggerWhenStopEnabled(properties, false);
        RaftServerConfigKeys.Log.setPurgeGap(properties, 1);
        return properties;
    }

    /** Returns the maximum election timeout: a node without contact with its leader starts an election by then. */
    static long longestElectionMillis(GroupConfig config) {
        return 2 * config.election().toMillis();
    }

    private static TimeDuration millis(long millis) {
        return TimeDuration.valueOf(millis, TimeUnit.MILLISECONDS);
    }

    /**
     * Creates a client for one node of a group, which does not retry requests.
     *
     * @param properties those of a node if the responses are long; the method changes them
     */
    static RaftClient client(
            RaftProperties properties, UUID group, GroupConfig.@Nullable Tls tls, RaftPeer node, TimeDuration timeout) {
        RaftClientConfigKeys.Rpc.setRequestTimeout(properties, timeout);
        return RaftClient.newBuilder()
                .setRaftGroup(RaftGroup.valueOf(RaftGroupId.valueOf(group), node))
                .setLeaderId(node.getId())
                .setProperties(properties)
                .setParameters(parameters(tls))
                .setRetryPolicy(RetryPolicies.noRetry())
                .build();
    }

    /** Returns the parameters with which a node's Raft server starts. */
    static Parameters parameters(GroupConfig config, Supplier<RaftServer.Division> division) {
        Parameters parameters = parameters(config.tls());
        GrpcConfigKeys.Server.setServicesCustomizer(parameters, new RaftRpcGuard(RaftRpcGuard.votes(config), division));
        return parameters;
    }

    private static Parameters parameters(GroupConfig.@Nullable Tls tls) {
        Parameters parameters = new Parameters();
        if (tls != null) {
            GrpcConfigKeys.TLS.setConf(
                    parameters,
                    new GrpcTlsConfig(
                            tls.key().toFile(),
                            tls.certificates().toFile(),
                            tls.authority().toFile(),
                            true));
        }
        return parameters;
    }
}
