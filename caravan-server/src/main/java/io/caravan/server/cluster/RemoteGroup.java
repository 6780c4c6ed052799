package io.caravan.server.cluster;

import io.caravan.cluster.GroupConfig;
import io.caravan.cluster.LeaderLookup;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.time.Duration;
import java.time.InstantSource;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Polls the nodes of a group to which this node does not belong, to learn which of them leads. Thread-safe. */
final class RemoteGroup extends GroupView implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(RemoteGroup.class);
    private static final long PERIOD_MILLIS = 500;
    private static final Duration TIMEOUT = Duration.ofSeconds(1);

    private final ClusterGroup group;
    private volatile List<ClusterNode> nodes;
    private volatile @Nullable ClusterNode leader;
    private Runnable end = () -> {};
    /** Whether the last poll failed with an exception. Used by the polling thread only. */
    private boolean failing;

    RemoteGroup(ClusterGroup group, ClusterNode self, InstantSource clock) {
        super(group, self, clock);
        this.group = group;
        this.nodes = group.nodes();
    }

    @Override
    public List<ClusterNode> nodes() {
        return nodes;
    }

    @Override
    Optional<ClusterNode> knownLeader() {
        return Optional.ofNullable(leader);
    }

    void start(GroupConfig.@Nullable Tls tls) {
        LeaderLookup lookup = new LeaderLookup(group.id(), tls, TIMEOUT);
        ScheduledExecutorService thread =
                Executors.newSingleThreadScheduledExecutor(new DefaultThreadFactory("caravan-group", true));
        thread.scheduleWithFixedDelay(() -> query(lookup), 0, PERIOD_MILLIS, TimeUnit.MILLISECONDS);
        end = () -> {
            // Only the polling thread may use the connection.
            thread.execute(lookup::close);
            thread.shutdown();
        };
    }

    /** Polls the nodes once. Does not throw, because that would end the polling, even for a temporary cause. */
    void query(LeaderLookup lookup) {
        boolean led = false;
        try {
            led = queryInOrder(lookup);
            failing = false;
        } catch (RuntimeException | Error problem) {
            if (!failing) {
                LOG.error("cannot find the leader of the slots {}, trying again", group.slots(), problem);
            }
            failing = true;
        }
        if (!led) {
            leader = null;
        }
        // Detects a new leader now instead of at the next query.
        since();
    }

    /** Queries the nodes, the last known leader first, and returns whether a response named the leader. */
    private boolean queryInOrder(LeaderLookup lookup) {
        Set<ClusterNode> inOrder = new LinkedHashSet<>();
        leader().ifPresent(inOrder::add);
        inOrder.addAll(nodes);
        inOrder.addAll(group.nodes());
        return inOrder.stream()
                .flatMap(node -> lookup.query(node.member()).stream())
                .anyMatch(this::receive);
    }

    /** Stores a node's response if it names the leader, and returns whether it does. */
    private boolean receive(LeaderLookup.Reply reply) {
        List<ClusterNode> members = group.described(reply.nodes());
        Optional<ClusterNode> leads = members.stream()
                .filter(node -> node.id().equals(reply.leader()))
                .findFirst();
        leads.ifPresent(known -> {
            nodes = members;
            leader = known;
        });
        return leads.isPresent();
    }

    @Override
    public void close() {
        end.run();
        end = () -> {};
    }
}
