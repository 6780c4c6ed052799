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
    private static final Duration PATIENCE = Duration.ofSeconds(1);

    private final ClusterGroup group;
    private final GroupView view;
    private volatile Heard heard;
    private @Nullable Asking asking;
    /** Whether the last poll failed with an exception. Used by the polling thread only. */
    private boolean failing;

    private record Heard(List<ClusterNode> hosts, @Nullable ClusterNode leader) {}

    private record Asking(ScheduledExecutorService thread, LeaderLookup inquiry) {}

    RemoteGroup(ClusterGroup group, ClusterNode self, InstantSource clock) {
        this.group = group;
        this.heard = new Heard(group.hosts(), null);
        this.view = new GroupView(group, self, () -> heard.hosts(), () -> Optional.ofNullable(heard.leader()), clock);
    }

    GroupView view() {
        return view;
    }

    void start(GroupConfig.@Nullable Tls tls) {
        LeaderLookup inquiry = new LeaderLookup(group.id(), tls, PATIENCE);
        ScheduledExecutorService thread =
                Executors.newSingleThreadScheduledExecutor(new DefaultThreadFactory("caravan-group", true));
        thread.scheduleWithFixedDelay(() -> ask(inquiry), 0, PERIOD_MILLIS, TimeUnit.MILLISECONDS);
        asking = new Asking(thread, inquiry);
    }

    /**
     * Polls once. Does not throw, because the scheduler would then not run it again: certificates that are being
     * replaced, for example, can be read a moment later.
     */
    void ask(LeaderLookup inquiry) {
        boolean led = false;
        try {
            led = askInOrder(inquiry);
            failing = false;
        } catch (RuntimeException | Error problem) {
            if (!failing) {
                LOG.error("cannot find the leader of the slots {}, trying again", group.slots(), problem);
            }
            failing = true;
        }
        if (!led) {
            heard = new Heard(heard.hosts(), null);
        }
        // Detects a new leader now, and not only at the next request for it.
        view.since();
    }

    /** Queries one node after another, the leader first, until one knows the leader. Returns whether one did. */
    private boolean askInOrder(LeaderLookup inquiry) {
        Set<ClusterNode> inOrder = new LinkedHashSet<>();
        view.leader().ifPresent(inOrder::add);
        inOrder.addAll(heard.hosts());
        inOrder.addAll(group.hosts());
        return inOrder.stream()
                .flatMap(host -> inquiry.ask(host.member()).stream())
                .anyMatch(this::hear);
    }

    /** Stores a node's response if it names the leader, and returns whether it does. */
    private boolean hear(LeaderLookup.Answer answer) {
        List<ClusterNode> hosts = group.described(answer.nodes());
        Optional<ClusterNode> leader =
                hosts.stream().filter(host -> host.id().equals(answer.leader())).findFirst();
        leader.ifPresent(leads -> heard = new Heard(hosts, leads));
        return leader.isPresent();
    }

    @Override
    public void close() {
        Asking begun = asking;
        asking = null;
        if (begun != null) {
            // The connection belongs to the thread.
            begun.thread().execute(begun.inquiry()::close);
            begun.thread().shutdown();
        }
    }
}
