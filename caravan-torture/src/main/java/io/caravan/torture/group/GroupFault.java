package io.caravan.torture.group;

import io.caravan.torture.group.GroupDisks.Ailment;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/** A fault to produce in nodes of a Raft group while clients write to the group. */
public enum GroupFault {
    KILL_LEADER,
    KILL_FOLLOWER,
    /**
     * A follower is down until the other nodes have purged from their Raft logs the entries that it lacks, so that it
     * receives a snapshot.
     */
    KEEP_FOLLOWER_AWAY,
    KILL_TWO,
    KILL_ALL,
    /** The leader is suspended for longer than an election takes. When it resumes, it still acts as the leader. */
    PAUSE_LEADER,
    PAUSE_FOLLOWER,
    /** The leader is suspended, and then another node is killed. */
    PAUSE_LEADER_AND_KILL,
    /** A node is killed, restarted, and killed again while it is still starting. */
    KILL_STARTING,
    RESTART_ALL,
    /** The leader is cut off from the other nodes in both directions, but still serves the harness. */
    CUT_OFF_LEADER,
    CUT_OFF_FOLLOWER,
    /** All nodes are cut off from each other. */
    CUT_OFF_ALL,
    /**
     * The other nodes receive no messages from the leader and start elections. The leader still receives their
     * messages.
     */
    MUTE_LEADER,
    /**
     * The leader receives no messages, and therefore steps down; the other nodes still receive the leader's messages.
     */
    DEAFEN_LEADER,
    MUTE_FOLLOWER,
    DEAFEN_FOLLOWER,
    /** The leader is cut off, and another node is killed and restarted. */
    CUT_OFF_LEADER_AND_KILL,
    SLOW_NETWORK,
    /** The leader's fsyncs take up to a second longer. */
    SLOW_DISK_LEADER,
    SLOW_DISK_FOLLOWER,
    SLOW_DISK_TWO,
    /** Either the leader's writes and fsyncs fail, or only its fsyncs do. */
    FAILING_DISK_LEADER,
    FAILING_DISK_FOLLOWER,
    FAILING_DISK_TWO,
    FULL_DISK_LEADER,
    FULL_DISK_FOLLOWER,
    FULL_DISK_TWO;

    private static final Duration AWAY = Duration.ofSeconds(5);
    /** The duration of a cut: just long enough for an election, and for a leader to detect the loss of its quorum. */
    private static final long CUT_MILLIS = 2 * GroupPlan.ELECTION.toMillis();

    private static final int SLOWEST_MILLIS = 120;
    private static final int SLOWEST_FSYNC_MILLIS = 1000;
    /** The duration of a disk fault: long enough for a node to exit on its own and be restarted. */
    private static final long SICK_MILLIS = 2000;

    private static final long POLL_MILLIS = 100;

    /** Produces the fault, and returns the number of processes that it killed. */
    int strike(GroupNodeProcesses nodes, Random random) throws IOException, InterruptedException {
        List<String> order = new ArrayList<>(nodes.ids());
        Collections.shuffle(order, random);
        nodes.leader().ifPresent(leader -> {
            order.remove(leader);
            order.add(0, leader);
        });
        return switch (this) {
            case KILL_LEADER -> kill(nodes, order.subList(0, 1));
            case KILL_FOLLOWER -> kill(nodes, order.subList(1, 2));
            case KEEP_FOLLOWER_AWAY -> keepAway(nodes, order.get(1));
            case KILL_TWO -> kill(nodes, two(order, random));
            case KILL_ALL -> kill(nodes, order);
            case PAUSE_LEADER -> pause(nodes, order.get(0));
            case PAUSE_FOLLOWER -> pause(nodes, order.get(1));
            case PAUSE_LEADER_AND_KILL -> pause(nodes, order.get(0)) + kill(nodes, order.subList(1, 2));
            case KILL_STARTING -> killStarting(nodes, order.get(random.nextInt(2)), random);
            case RESTART_ALL -> {
                nodes.stop();
                yield 0;
            }
            case CUT_OFF_LEADER -> cut(nodes, order.subList(0, 1), true, true);
            case CUT_OFF_FOLLOWER -> cut(nodes, order.subList(1, 2), true, true);
            case CUT_OFF_ALL -> cut(nodes, order, true, true);
            case MUTE_LEADER -> cut(nodes, order.subList(0, 1), true, false);
            case DEAFEN_LEADER -> cut(nodes, order.subList(0, 1), false, true);
            case MUTE_FOLLOWER -> cut(nodes, order.subList(1, 2), true, false);
            case DEAFEN_FOLLOWER -> cut(nodes, order.subList(1, 2), false, true);
            case CUT_OFF_LEADER_AND_KILL -> {
                cut(nodes, order.subList(0, 1), true, true);
                nodes.kill(order.get(1));
                nodes.start(order.get(1));
                yield 1;
            }
            case SLOW_NETWORK -> {
                nodes.network().slow(1 + random.nextInt(SLOWEST_MILLIS));
                Thread.sleep(CUT_MILLIS);
                yield 0;
            }
            case SLOW_DISK_LEADER -> slow(nodes, order.subList(0, 1), random);
            case SLOW_DISK_FOLLOWER -> slow(nodes, order.subList(1, 2), random);
            case SLOW_DISK_TWO -> slow(nodes, two(order, random), random);
            case FAILING_DISK_LEADER -> fail(nodes, order.subList(0, 1), random);
            case FAILING_DISK_FOLLOWER -> fail(nodes, order.subList(1, 2), random);
            case FAILING_DISK_TWO -> fail(nodes, two(order, random), random);
            case FULL_DISK_LEADER -> sicken(nodes, order.subList(0, 1), Ailment.FULL, 0, random);
            case FULL_DISK_FOLLOWER -> sicken(nodes, order.subList(1, 2), Ailment.FULL, 0, random);
            case FULL_DISK_TWO -> sicken(nodes, two(order, random), Ailment.FULL, 0, random);
        };
    }

    /** Whether the fault requires simulated disks. */
    boolean isOfDisks() {
        return compareTo(SLOW_DISK_LEADER) >= 0;
    }

    /** Returns two of the nodes: either the leader and a follower, or two followers. */
    private static List<String> two(List<String> order, Random random) {
        return random.nextBoolean() ? order.subList(0, 2) : order.subList(1, 3);
    }

    private static int slow(GroupNodeProcesses nodes, List<String> which, Random random)
            throws IOException, InterruptedException {
        return sicken(nodes, which, Ailment.NONE, 1 + random.nextInt(SLOWEST_FSYNC_MILLIS), random);
    }

    private static int fail(GroupNodeProcesses nodes, List<String> which, Random random)
            throws IOException, InterruptedException {
        return sicken(nodes, which, random.nextBoolean() ? Ailment.FAILS : Ailment.FAILS_FSYNCS, 0, random);
    }

    /** Applies a fault to disks. In some cases, the nodes are then killed and restarted on these disks. */
    private static int sicken(
            GroupNodeProcesses nodes, List<String> which, Ailment ailment, int forceMillis, Random random)
            throws IOException, InterruptedException {
        for (String node : which) {
            nodes.sicken(node, ailment, forceMillis);
        }
        bear(nodes);
        if (random.nextInt(3) > 0) {
            return 0;
        }
        int killed = kill(nodes, which);
        for (String node : which) {
            nodes.start(node);
        }
        bear(nodes);
        return killed;
    }

    private static void bear(GroupNodeProcesses nodes) throws IOException, InterruptedException {
        for (long left = SICK_MILLIS; left > 0; left -= POLL_MILLIS) {
            Thread.sleep(POLL_MILLIS);
            nodes.startThoseThatEnded();
        }
    }

    private static int cut(GroupNodeProcesses nodes, List<String> which, boolean mute, boolean deaf)
            throws InterruptedException {
        for (String node : which) {
            if (mute) {
                nodes.network().mute(node);
            }
            if (deaf) {
                nodes.network().deafen(node);
            }
        }
        Thread.sleep(CUT_MILLIS);
        return 0;
    }

    private static int kill(GroupNodeProcesses nodes, List<String> which) throws IOException {
        for (String node : which) {
            nodes.kill(node);
        }
        return which.size();
    }

    private static int keepAway(GroupNodeProcesses nodes, String node) throws IOException {
        nodes.kill(node);
        nodes.outgrowLog(AWAY);
        return 1;
    }

    private static int pause(GroupNodeProcesses nodes, String node) throws IOException, InterruptedException {
        nodes.pause(node);
        Thread.sleep(CUT_MILLIS);
        return 0;
    }

    private static int killStarting(GroupNodeProcesses nodes, String node, Random random)
            throws IOException, InterruptedException {
        nodes.kill(node);
        nodes.start(node);
        Thread.sleep(random.nextInt(2500));
        nodes.kill(node);
        return 2;
    }
}
