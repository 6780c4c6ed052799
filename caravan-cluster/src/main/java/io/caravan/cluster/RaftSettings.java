package io.caravan.cluster;

import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
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
import org.apache.ratis.server.RaftServerConfigKeys;
import org.apache.ratis.util.SizeInBytes;
import org.apache.ratis.util.TimeDuration;
import org.jspecify.annotations.Nullable;

/** How Raft is set up on a host. */
final class RaftSettings {
    /**
     * The largest entry: a frame, and room for what stands around it. By this and not by the host's own buffers, or a host
     * with smaller ones could not write, read or send on what the group has committed.
     */
    private static final SizeInBytes ENTRY = SizeInBytes.valueOf(GroupConfig.MAX_FRAME_BYTES + (1 << 20));

    /** How many messages with entries are on their way to a host: each may have as much as the largest entry. */
    private static final int MESSAGES_ON_THE_WAY = 2;

    /** So much of the Raft log is zeros, so that a force of it does not have to record a new length. */
    private static final long PREALLOCATED_BYTES = 4 << 20;

    /** A host that is to join and says nothing for so long is given up. */
    private static final long JOINING_MILLIS = 10_000;

    private RaftSettings() {}

    static RaftProperties properties(GroupConfig config) {
        RaftProperties properties = new RaftProperties();
        Host self = config.selfHost();
        RaftConfigKeys.Rpc.setType(properties, SupportedRpcType.GRPC);
        GrpcConfigKeys.Server.setHost(properties, self.address());
        GrpcConfigKeys.Server.setPort(properties, self.port());
        RaftServerConfigKeys.setStorageDir(
                properties, List.of(config.raftDirectory().toFile()));

        long election = config.election().toMillis();
        RaftServerConfigKeys.Rpc.setTimeoutMin(properties, millis(election));
        RaftServerConfigKeys.Rpc.setTimeoutMax(properties, millis(longestElectionMillis(config)));
        RaftServerConfigKeys.Rpc.setRequestTimeout(properties, millis(2 * election));
        // A leader that lost its majority stands for election no later than others, or a group whose other hosts lack
        // entries has no leader meanwhile. Ratis also takes this for the pause of a JVM after which a leader gives up.
        RaftServerConfigKeys.LeaderElection.setLeaderStepDownWaitTime(
                properties, millis(longestElectionMillis(config)));

        RaftServerConfigKeys.setStagingTimeout(properties, millis(Math.max(JOINING_MILLIS, 6 * election)));

        RaftServerConfigKeys.Log.Appender.setBufferByteLimit(properties, ENTRY);
        RaftServerConfigKeys.Log.setWriteBufferSize(properties, SizeInBytes.valueOf(ENTRY.getSize() + Long.BYTES));
        GrpcConfigKeys.Server.setLeaderOutstandingAppendsMax(properties, MESSAGES_ON_THE_WAY);
        SizeInBytes segment = SizeInBytes.valueOf(RaftLogBound.segmentBytes(config.keptLogBytes()));
        RaftServerConfigKeys.Log.setSegmentSizeMax(properties, segment);
        RaftServerConfigKeys.Log.setPreallocatedSize(
                properties, SizeInBytes.valueOf(Math.min(segment.getSize(), PREALLOCATED_BYTES)));
        GrpcConfigKeys.setMessageSizeMax(properties, SizeInBytes.valueOf(2 * ENTRY.getSize()));
        // Otherwise a follower appends later than it looks at the leader's term, behind other entries and their forces.
        // It may vote for another leader in between, and its answer then commits what that one does not have.
        RaftServerConfigKeys.Log.setAppendEntriesComposeEnabled(properties, false);
        // These would be a second entry behind each, sent and forced as well, so that a host that starts knows what was
        // committed. The leader tells it anyway.
        RaftServerConfigKeys.Log.setLogMetadataEnabled(properties, false);
        // An entry is sent at once, not only when the last message is a millisecond old. A host that says nothing is
        // asked with the heartbeats, as Ratis would ask it without a pause otherwise.
        RaftServerConfigKeys.Log.Appender.setWaitTimeMin(properties, millis(0));
        RaftServerConfigKeys.Rpc.setSlownessTimeout(properties, millis(longestElectionMillis(config)));
        RaftServerConfigKeys.Log.Appender.setRetryPolicy(properties, "1ms,10,200ms,1000000000");

        // RaftLogKeeper drops the log, by whole segments; a host that is behind it gets files by FileReceiver.
        RaftServerConfigKeys.Log.Appender.setInstallSnapshotEnabled(properties, false);
        RaftServerConfigKeys.Snapshot.setAutoTriggerEnabled(properties, false);
        RaftServerConfigKeys.Snapshot.setTriggerWhenStopEnabled(properties, false);
        RaftServerConfigKeys.Log.setPurgeGap(properties, 1);
        return properties;
    }

    /** A host that has not heard of its leader for so long has stood for election. */
    static long longestElectionMillis(GroupConfig config) {
        return 2 * config.election().toMillis();
    }

    private static TimeDuration millis(long millis) {
        return TimeDuration.valueOf(millis, TimeUnit.MILLISECONDS);
    }

    /**
     * Asks one host of this host's group, once.
     *
     * @param answer how long it may take to answer
     */
    static RaftClient client(GroupConfig config, RaftPeer host, TimeDuration answer) {
        return client(properties(config), config.group(), config.tls(), host, answer);
    }

    /** As the other, for short answers of a host of any group. */
    static RaftClient client(UUID group, GroupConfig.@Nullable Tls tls, RaftPeer host, TimeDuration answer) {
        return client(new RaftProperties(), group, tls, host, answer);
    }

    private static RaftClient client(
            RaftProperties properties, UUID group, GroupConfig.@Nullable Tls tls, RaftPeer host, TimeDuration answer) {
        RaftClientConfigKeys.Rpc.setRequestTimeout(properties, answer);
        return RaftClient.newBuilder()
                .setRaftGroup(RaftGroup.valueOf(RaftGroupId.valueOf(group), host))
                .setLeaderId(host.getId())
                .setProperties(properties)
                .setParameters(parameters(tls))
                .setRetryPolicy(RetryPolicies.noRetry())
                .build();
    }

    /** What a host's Raft is started with. */
    static Parameters hostParameters(GroupConfig config) {
        Parameters parameters = parameters(config.tls());
        GrpcConfigKeys.Server.setServicesCustomizer(parameters, DurableVotes.of(config));
        return parameters;
    }

    static Parameters parameters(GroupConfig.@Nullable Tls tls) {
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
