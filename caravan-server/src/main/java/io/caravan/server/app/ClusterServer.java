package io.caravan.server.app;

import io.caravan.DurableListStore;
import io.caravan.NotLeaderException;
import io.caravan.StoreFailedException;
import io.caravan.cluster.GroupConfig;
import io.caravan.cluster.GroupMember;
import io.caravan.cluster.GroupMember.Progress;
import io.caravan.cluster.LeadershipListener;
import io.caravan.server.backup.Backups;
import io.caravan.server.cluster.Cluster;
import io.caravan.server.config.Setting;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A node of a cluster. While the node leads, a {@link Server} serves the group's store; while it follows, another
 * {@link Server} on the same addresses redirects clients to the leader. When the role changes, the node stops one
 * server, starts the other, and closes all connections, so that clients reconnect and look up the leader.
 */
public final class ClusterServer implements LeadershipListener, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ClusterServer.class);

    /** The limit for sending pending replies after leadership is lost; every request then fails fast. */
    private static final Duration TIMEOUT = Duration.ofMillis(500);

    private static final long CHECK_SECONDS = 1;
    private static final int ATTEMPTS = 50;
    private static final long RETRY_MILLIS = 100;

    private final ServerConfig config;
    private final List<Setting> settings;
    private final Cluster cluster;
    private final @Nullable Path backupDirectory;
    /** The ids of nodes that do not respond. Used only by the thread in {@link #awaitFailure}. */
    private final Set<String> silent = new HashSet<>();

    private final CompletableFuture<Void> failed = new CompletableFuture<>();
    private @Nullable Server server;
    private @Nullable GroupMember member;
    private boolean closing;

    private ClusterServer(
            ServerConfig config, List<Setting> settings, Cluster cluster, @Nullable Path backupDirectory) {
        this.config = config;
        this.settings = List.copyOf(settings);
        this.cluster = cluster;
        this.backupDirectory = backupDirectory;
    }

    /**
     * Starts the node as a follower, with the addresses that the other nodes know. Throws {@link IOException} if it
     * cannot listen or participate, and the exceptions of {@link GroupMember#start}. The leader makes backups unless
     * the directory is null.
     */
    public static ClusterServer start(
            GroupConfig group,
            ServerConfig config,
            List<Setting> settings,
            Cluster cluster,
            @Nullable Path backupDirectory)
            throws IOException {
        ClusterServer node = new ClusterServer(config, settings, cluster, backupDirectory);
        node.begin(group);
        return node;
    }

    private synchronized void begin(GroupConfig group) throws IOException {
        try {
            Server signpost = new Server(config, settings, cluster);
            server = signpost;
            signpost.follow();
            GroupMember started = GroupMember.start(group, this);
            member = started;
            cluster.joined(started);
            cluster.followOthers(group.tls());
        } catch (IOException | RuntimeException problem) {
            close();
            throw problem;
        }
    }

    @Override
    public void leads(DurableListStore store) {
        guarded(Duration.ZERO, replacement -> {
            replacement.serve(store, Backups.of(store::backup, backupDirectory));
            cluster.serving(true);
        });
    }

    @Override
    public void follows() {
        cluster.serving(false);
        guarded(TIMEOUT, Server::follow);
    }

    @FunctionalInterface
    private interface Role {
        void begin(Server server) throws IOException;
    }

    /**
     * Starts the server in a role. If this fails, ends the node, because no other node takes over while this one is
     * running. Rethrows the failure of the store to the member, which then follows, or leaves the group.
     */
    private void guarded(Duration timeout, Role role) {
        try {
            replaceServer(timeout, role);
        } catch (StoreFailedException | NotLeaderException failedStore) {
            throw failedStore;
        } catch (RuntimeException | Error problem) {
            LOG.error("cannot serve in the new role of this node", problem);
            failed.completeExceptionally(problem);
        }
    }

    private synchronized void replaceServer(Duration timeout, Role role) {
        Server previous = server;
        server = null;
        if (previous != null) {
            previous.drain(timeout);
        }
        try {
            take(role);
        } finally {
            // Finishes the previous server only now, so that the addresses refuse connections as briefly as possible.
            if (previous != null) {
                previous.finish(Duration.ZERO);
            }
        }
    }

    private void take(Role role) {
        for (int attempt = 1; !closing; attempt++) {
            try {
                server = started(role);
                return;
            } catch (IOException problem) {
                if (attempt == ATTEMPTS) {
                    throw new UncheckedIOException(problem);
                }
                LOG.warn("cannot listen in the new role of this node, trying again: {}", problem.getMessage());
                pause();
            }
        }
    }

    private Server started(Role role) throws IOException {
        Server replacement = new Server(config, settings, cluster);
        try {
            role.begin(replacement);
            return replacement;
        } catch (Throwable problem) {
            replacement.close();
            throw problem;
        }
    }

    /** Pauses before a retry. Releases the lock during the pause, so that {@link #close} can acquire it. */
    private void pause() {
        try {
            wait(RETRY_MILLIS);
        } catch (InterruptedException hurried) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while it waited for its addresses", hurried);
        }
    }

    /**
     * Waits until the node has left its group, cannot serve in its role, or leads with a failed store. Another node
     * then takes over until this one is restarted.
     */
    public void awaitFailure() {
        Server broken = null;
        while (takesPart()) {
            Server now = brokenLeader();
            if (now != null && now == broken) {
                LOG.error("the store of this node has failed while the node is the leader");
                return;
            }
            // The store also fails when this node loses leadership; the next check then finds another server.
            broken = now;
            checkOthers();
            try {
                failed.get(CHECK_SECONDS, TimeUnit.SECONDS);
            } catch (TimeoutException fine) {
                // No failure was reported: check again.
            } catch (ExecutionException reported) {
                return;
            } catch (InterruptedException hurried) {
                Thread.currentThread().interrupt();
                return;
            }
        }
    }

    /** Whether the cluster has removed this node from its group. */
    public boolean removed() {
        GroupMember here;
        synchronized (this) {
            here = member;
        }
        return here != null && here.removed();
    }

    private synchronized @Nullable Server brokenLeader() {
        return server != null && cluster.leads() && server.storeFailed() ? server : null;
    }

    private void checkOthers() {
        try {
            // Detects a new leader now instead of at the next query.
            cluster.group().since();
            logSilence();
        } catch (IllegalStateException left) {
            LOG.debug("this node has just left its group", left);
        }
    }

    /** Logs once when a node stops responding to the leader, and once when it responds again. */
    private void logSilence() {
        for (Progress progress : cluster.progress()) {
            String node = progress.node().id();
            boolean nothing = Cluster.isSilent(progress);
            if (nothing && silent.add(node)) {
                LOG.warn("node {} has not responded for {} s", node, Cluster.SILENCE.toSeconds());
            } else if (!nothing && silent.remove(node)) {
                LOG.info("node {} responds again, or another node leads", node);
            }
        }
    }

    private synchronized boolean takesPart() {
        return closing || member != null && member.takesPart();
    }

    /** Stops serving, and leaves the group; if this node leads, another node takes over. */
    @Override
    public void close() throws IOException {
        stop(TIMEOUT, TIMEOUT);
    }

    /** Stops the server as {@link Server#stop} does; then transfers leadership, if any, and leaves the group. */
    public void stop(Duration connections, Duration all) throws IOException {
        boolean led;
        GroupMember leaving;
        synchronized (this) {
            closing = true;
            notifyAll();
            cluster.leaveOthers();
            led = cluster.leads();
            cluster.serving(false);
            if (server != null) {
                server.stop(connections, all);
                server = null;
            }
            leaving = member;
            member = null;
        }
        // Releases the lock first, because follows() acquires it.
        if (leaving != null) {
            try (leaving) {
                if (led) {
                    leaving.handOver();
                }
            }
        }
    }
}
