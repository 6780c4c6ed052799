package io.caravan.torture.group;

import io.caravan.cluster.Node;
import io.caravan.testing.ChildJvm;
import io.caravan.testing.ChildProcess;
import io.caravan.torture.group.NodeCall.Reply;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** Manages the child processes of a Raft group's nodes. One thread starts and stops them; any thread may connect. */
final class GroupNodeProcesses implements AutoCloseable {
    /**
     * The time limit for a node to start or to catch up, and for a group to accept writes once all nodes are up. It is
     * long enough for a busy machine.
     */
    static final Duration TIMEOUT = Duration.ofMinutes(2);

    private static final Duration REPLY_TIMEOUT = Duration.ofSeconds(2);
    private static final long POLL_NANOS = 10_000_000;
    private static final long FILLED_LIST = 2_000_000;
    private static final int STARTS = 5;
    /**
     * Output that excuses a node's exit: another program took its port, or the leader that sent it a snapshot was lost.
     */
    private static final List<String> EXCUSES =
            List.of("Address already in use", "has received a snapshot, but no leader requests its installation");

    /**
     * The JVM flags of a node. The JVM heap must have space for the open segment of the Raft log, whose entries stay in
     * memory.
     */
    private static final List<String> FLAGS = List.of(
            "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto", "-XX:+ExitOnOutOfMemoryError");

    private final GroupPlan plan;
    private final String mainClass;
    private final Map<String, ChildJvm> children = new ConcurrentHashMap<>();
    private final Set<String> paused = ConcurrentHashMap.newKeySet();
    /** The nodes whose processes may exit on their own, because their disks have failed. */
    private final Set<String> convalescent = ConcurrentHashMap.newKeySet();

    private final GroupNetwork network;
    private final GroupDisks disks;
    private int endedByThemselves;
    /**
     * Whether all nodes have been stopped, and none has been started since. Their exit statuses were checked when they
     * stopped.
     */
    private boolean stopped;

    /** Starts the processes of a new Raft group. */
    GroupNodeProcesses(GroupPlan plan, String mainClass) throws IOException {
        this.plan = plan;
        this.mainClass = mainClass;
        this.network = new GroupNetwork(plan);
        this.disks = new GroupDisks(plan);
        for (String node : ids()) {
            launch(node, true);
        }
        for (String node : ids()) {
            awaitUp(node);
        }
    }

    List<String> ids() {
        return plan.nodes().stream().map(Node::id).toList();
    }

    /** Starts a stopped node, without waiting until it is up. */
    void start(String node) throws IOException {
        launch(node, false);
    }

    private void launch(String node, boolean create) throws IOException {
        Files.deleteIfExists(plan.portFile(node));
        List<String> flags = new ArrayList<>(FLAGS);
        flags.add(network.flag(node));
        children.put(
                node,
                ChildJvm.start(
                        flags, mainClass, plan.toArguments(node, create), disks.environment(node), plan.log(node)));
    }

    private void awaitUp(String node) throws IOException {
        long deadline = System.nanoTime() + TIMEOUT.toNanos();
        while (!Files.exists(plan.portFile(node))) {
            ChildJvm child = child(node);
            if (!child.alive() || System.nanoTime() > deadline) {
                child.explainIfAlive();
                throw new IOException("node " + node + " did not come up within " + TIMEOUT.toSeconds()
                        + " s; its output is in " + plan.log(node));
            }
            LockSupport.parkNanos(POLL_NANOS);
        }
    }

    private ChildJvm child(String node) {
        ChildJvm child = children.get(node);
        if (child == null) {
            throw new IllegalStateException("node " + node + " was never started");
        }
        return child;
    }

    /** Returns the network between the nodes, which the harness does not use for its own connections. */
    GroupNetwork network() {
        return network;
    }

    String reasonForNoSickDisks() {
        return disks.reasonForNone();
    }

    /** Sets the fault that a node's disk has until {@link #heal} is called; see {@link GroupDisks#ail}. */
    void sicken(String node, GroupDisks.Ailment ailment, int forceMillis) throws IOException {
        convalescent.add(node);
        disks.ail(node, ailment, forceMillis);
    }

    /**
     * Restarts the nodes that exited because of a disk fault, as a service manager does. Nodes that the harness has
     * killed stay down.
     *
     * @throws IOException if a node exited for another reason
     */
    void startThoseThatEnded() throws IOException {
        for (String node : ids()) {
            int status = child(node).alive() ? ChildProcess.KILLED : child(node).awaitExit();
            if (status == ChildProcess.KILLED) {
                continue;
            }
            if (!isExcused(node)) {
                throw new IOException("node " + node + " has exited by itself with status " + status
                        + ", though its disk was well; its output is in " + plan.log(node));
            }
            if (status == GroupNodeProcess.UNFIT) {
                endedByThemselves++;
                start(node);
            }
        }
    }

    /** Whether the node had a valid reason to exit: its disk had failed, or its output contains one of the excuses. */
    private boolean isExcused(String node) throws IOException {
        String output = child(node).output();
        return convalescent.contains(node) || EXCUSES.stream().anyMatch(output::contains);
    }

    /** Returns the number of processes that exited without being killed and were restarted. */
    int endedByThemselves() {
        return endedByThemselves;
    }

    /**
     * Removes all faults: repairs the disks and the network, resumes suspended nodes, and starts nodes that are down.
     *
     * @param broken whether to close the connections between the nodes
     */
    void heal(boolean broken) throws IOException {
        network.heal(broken);
        for (String node : convalescent) {
            disks.ail(node, GroupDisks.Ailment.NONE, 0);
        }
        for (String node : List.copyOf(paused)) {
            resume(node);
        }
        if (!stopped) {
            startThoseThatEnded();
        }
        stopped = false;
        List<String> down = ids().stream().filter(node -> !child(node).alive()).toList();
        for (String node : down) {
            start(node);
        }
        for (String node : ids()) {
            startNode(node);
        }
    }

    /** Waits until a node is up, and restarts it if it exits for a valid reason. */
    private void startNode(String node) throws IOException {
        for (int attempt = 1; ; attempt++) {
            try {
                awaitUp(node);
                return;
            } catch (IOException failed) {
                if (attempt == STARTS || !isExcused(node)) {
                    throw failed;
                }
                start(node);
            }
        }
    }

    void kill(String node) throws IOException {
        paused.remove(node);
        child(node).kill();
    }

    void pause(String node) throws IOException {
        if (child(node).alive() && paused.add(node)) {
            child(node).pause();
        }
    }

    void resume(String node) throws IOException {
        if (paused.remove(node)) {
            child(node).resume();
        }
    }

    void stop() throws IOException {
        for (String node : ids()) {
            child(node).requestStop();
        }
        for (String node : ids()) {
            int status = child(node).awaitExit();
            boolean endedBefore = status == GroupNodeProcess.UNFIT && isExcused(node);
            if (status != 0 && !endedBefore) {
                throw new IOException(
                        "node " + node + " exited with status " + status + "; its output is in " + plan.log(node));
            }
        }
        convalescent.clear();
        stopped = true;
    }

    /** Starts a node without its Raft log, and checks that it refuses to run. Returns the problem, or null. */
    @Nullable
    String tryWithoutFiles(String node) throws IOException {
        Path raft = plan.raft(node);
        Path aside = raft.resolveSibling("raft-aside");
        Files.move(raft, aside);
        start(node);
        int status = child(node).awaitExit();
        boolean untouched = !Files.exists(raft);
        if (untouched) {
            Files.move(aside, raft);
        }
        return status == GroupNodeProcess.REJECTED && untouched
                ? null
                : "node " + node + " started without its Raft log, under the same id; its status was " + status;
    }

    NodeLink link(String node) throws IOException {
        try {
            return new NodeLink(Integer.parseInt(Files.readString(plan.portFile(node))));
        } catch (NumberFormatException damaged) {
            throw new IOException("no port of node " + node, damaged);
        }
    }

    /** Returns the state that the node reports; empty if the node is down or suspended. */
    Optional<NodeLink.State> state(String node) {
        try (NodeLink link = link(node)) {
            link.send(NodeCall.state());
            return link.reply(REPLY_TIMEOUT) == Reply.DONE ? Optional.of(link.state()) : Optional.empty();
        } catch (IOException down) {
            return Optional.empty();
        }
    }

    /** Returns the name of a node that reports that it is the leader. */
    Optional<String> leader() {
        return ids().stream()
                .filter(node -> !paused.contains(node) && child(node).alive())
                .filter(node -> state(node).filter(NodeLink.State::leads).isPresent())
                .findFirst();
    }

    /** Sends the change to the node. Returns whether the group accepted it. */
    boolean takes(String node, NodeCall call) throws IOException {
        try (NodeLink link = link(node)) {
            return takes(link, call, TIMEOUT);
        } catch (SocketTimeoutException hangs) {
            explain();
            throw new IOException("node " + node + " leads, but does not reply to a write", hangs);
        }
    }

    /** Writes more bytes through the leader than the Raft log retains, or as many as possible in this time. */
    void outgrowLog(Duration atMost) {
        long end = System.nanoTime() + atMost.toNanos();
        long bytes = 0;
        while (bytes < 2 * GroupPlan.KEPT_LOG_BYTES && System.nanoTime() < end) {
            try (NodeLink link = link(leader().orElse(ids().get(0)))) {
                NodeCall append = NodeCall.append(FILLED_LIST, bytes, GroupPlan.MAX_VALUE_BYTES);
                while (bytes < 2 * GroupPlan.KEPT_LOG_BYTES && takes(link, append, REPLY_TIMEOUT)) {
                    bytes += GroupPlan.MAX_VALUE_BYTES;
                }
                takes(link, NodeCall.delete(FILLED_LIST), REPLY_TIMEOUT);
            } catch (IOException lost) {
                LockSupport.parkNanos(POLL_NANOS);
            }
        }
    }

    private static boolean takes(NodeLink link, NodeCall call, Duration timeout) throws IOException {
        link.send(call);
        if (link.reply(timeout) == Reply.DONE) {
            link.result();
            return true;
        }
        link.why();
        return false;
    }

    /** Makes all nodes dump their threads to their logs. */
    void explain() {
        children.values().forEach(ChildJvm::explainIfAlive);
    }

    @Override
    public void close() throws IOException {
        children.values().forEach(ChildJvm::close);
        network.close();
    }
}
