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
final class RemoteGroup implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(RemoteGroup.class);
    private static final long PERIOD_MILLIS = 500;
    private static final Duration TIMEOUT = Duration.ofSeconds(1);

    private final ClusterGroup group;
    private final GroupView view;
    private volatile Known known;
    private Runnable end = () -> {};
    /** Whether the last poll failed with an exception. Used by the polling thread only. */
    private boolean failing;

    private record Known(List<ClusterNode> nodes, @Nullable ClusterNode leader) {}

    RemoteGroup(ClusterGroup group, ClusterNode self, InstantSource clock) {
        this.group = group;
        this.known = new Known(group.nodes(), null);
        this.view = new GroupView(group, self, () -> known.nodes(), () -> Optional.ofNullable(known.leader()), clock);
    }

    GroupView view() {
        return view;
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
            known = new Known(known.nodes(), null);
        }
        // Detects a new leader now instead of at the next query.
        view.since();
    }

    /** Queries the nodes, the last known leader first, and returns whether a response named the leader. */
    private boolean queryInOrder(LeaderLookup lookup) {
        Set<ClusterNode> inOrder = new LinkedHashSet<>();
        view.leader().ifPresent(inOrder::add);
        inOrder.addAll(known.nodes());
        inOrder.addAll(group.nodes());
        return inOrder.stream()
                .flatMap(node -> lookup.query(node.member()).stream())
                .anyMatch(this::receive);
    }

    /** Stores a node's response if it names the leader, and returns whether it does. */
    private boolean receive(LeaderLookup.Reply reply) {
        List<ClusterNode> nodes = group.described(reply.nodes());
        Optional<ClusterNode> leader =
                nodes.stream().filter(node -> node.id().equals(reply.leader())).findFirst();
        leader.ifPresent(leads -> known = new Known(nodes, leads));
        return leader.isPresent();
    }

    @Override
    public void close() {
        end.run();
        end = () -> {};
    }
}
