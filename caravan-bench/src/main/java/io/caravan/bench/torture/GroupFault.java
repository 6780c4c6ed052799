package io.caravan.bench.torture;

import io.caravan.bench.torture.GroupDisks.Ailment;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/** A fault of nodes of a Raft group, produced while clients write to the group. */
enum GroupFault {
    KILL_LEADER,
    KILL_FOLLOWER,
    /**
     * A follower is down until the other nodes have purged the entries that it lacks from their Raft logs, so that it
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
    /** A node is killed, started, and killed again while it starts. */
    KILL_STARTING,
    RESTART_ALL,
    /** The leader is cut off from the other nodes in both directions, while it serves the harness as before. */
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
    /** The leader is cut off, and another node is killed and started. */
    CUT_OFF_LEADER_AND_KILL,
    SLOW_NETWORK,
    /** The leader's fsyncs take up to a second longer. */
    SLOW_DISK_LEADER,
    SLOW_DISK_FOLLOWER,
    SLOW_DISK_TWO,
    /** The leader's writes and fsyncs fail, or only its fsyncs. */
    FAILING_DISK_LEADER,
    FAILING_DISK_FOLLOWER,
    FAILING_DISK_TWO,
    FULL_DISK_LEADER,
    FULL_DISK_FOLLOWER,
    FULL_DISK_TWO;

    private static final Duration AWAY = Duration.ofSeconds(5);
    /** The minimum time for an election, and for a leader to detect that it has lost its quorum. */
    private static final long CUT_MILLIS = 2 * GroupPlan.ELECTION.toMillis();

    private static final int SLOWEST_MILLIS = 120;
    private static final int SLOWEST_FORCE_MILLIS = 1000;
    /** Duration of a disk fault: long enough for a node to exit on its own and be restarted. */
    private static final long SICK_MILLIS = 2000;

    private static final long LOOK_MILLIS = 100;

    /** Produces the fault; returns the number of processes killed. */
    int strike(GroupNodeProcesses hosts, Random random) throws IOException, InterruptedException {
        List<String> order = new ArrayList<>(hosts.ids());
        Collections.shuffle(order, random);
        hosts.leader().ifPresent(leader -> {
            order.remove(leader);
            order.add(0, leader);
        });
        return switch (this) {
            case KILL_LEADER -> kill(hosts, order.subList(0, 1));
            case KILL_FOLLOWER -> kill(hosts, order.subList(1, 2));
            case KEEP_FOLLOWER_AWAY -> keepAway(hosts, order.get(1));
            case KILL_TWO -> kill(hosts, two(order, random));
            case KILL_ALL -> kill(hosts, order);
            case PAUSE_LEADER -> pause(hosts, order.get(0));
            case PAUSE_FOLLOWER -> pause(hosts, order.get(1));
            case PAUSE_LEADER_AND_KILL -> pause(hosts, order.get(0)) + kill(hosts, order.subList(1, 2));
            case KILL_STARTING -> killStarting(hosts, order.get(random.nextInt(2)), random);
            case RESTART_ALL -> {
                hosts.stop();
                yield 0;
            }
            case CUT_OFF_LEADER -> cut(hosts, order.subList(0, 1), true, true);
            case CUT_OFF_FOLLOWER -> cut(hosts, order.subList(1, 2), true, true);
            case CUT_OFF_ALL -> cut(hosts, order, true, true);
            case MUTE_LEADER -> cut(hosts, order.subList(0, 1), true, false);
            case DEAFEN_LEADER -> cut(hosts, order.subList(0, 1), false, true);
            case MUTE_FOLLOWER -> cut(hosts, order.subList(1, 2), true, false);
            case DEAFEN_FOLLOWER -> cut(hosts, order.subList(1, 2), false, true);
            case CUT_OFF_LEADER_AND_KILL -> {
                cut(hosts, order.subList(0, 1), true, true);
                hosts.kill(order.get(1));
                hosts.start(order.get(1));
                yield 1;
            }
            case SLOW_NETWORK -> {
                hosts.network().slow(1 + random.nextInt(SLOWEST_MILLIS));
                Thread.sleep(CUT_MILLIS);
                yield 0;
            }
            case SLOW_DISK_LEADER -> slow(hosts, order.subList(0, 1), random);
            case SLOW_DISK_FOLLOWER -> slow(hosts, order.subList(1, 2), random);
            case SLOW_DISK_TWO -> slow(hosts, two(order, random), random);
            case FAILING_DISK_LEADER -> fail(hosts, order.subList(0, 1), random);
            case FAILING_DISK_FOLLOWER -> fail(hosts, order.subList(1, 2), random);
            case FAILING_DISK_TWO -> fail(hosts, two(order, random), random);
            case FULL_DISK_LEADER -> sicken(hosts, order.subList(0, 1), Ailment.FULL, 0, random);
            case FULL_DISK_FOLLOWER -> sicken(hosts, order.subList(1, 2), Ailment.FULL, 0, random);
            case FULL_DISK_TWO -> sicken(hosts, two(order, random), Ailment.FULL, 0, random);
        };
    }

    /** Whether the fault requires simulated disks. */
    boolean isOfDisks() {
        return compareTo(SLOW_DISK_LEADER) >= 0;
    }

    /** Returns two nodes: the leader and a follower, or two followers. */
    private static List<String> two(List<String> order, Random random) {
        return random.nextBoolean() ? order.subList(0, 2) : order.subList(1, 3);
    }

    private static int slow(GroupNodeProcesses hosts, List<String> which, Random random)
            throws IOException, InterruptedException {
        return sicken(hosts, which, Ailment.NONE, 1 + random.nextInt(SLOWEST_FORCE_MILLIS), random);
    }

    private static int fail(GroupNodeProcesses hosts, List<String> which, Random random)
            throws IOException, InterruptedException {
        return sicken(hosts, which, random.nextBoolean() ? Ailment.FAILS : Ailment.FAILS_FORCES, 0, random);
    }

    /** Applies a fault to disks. In some cases, the nodes are then killed and restarted on these disks. */
    private static int sicken(
            GroupNodeProcesses hosts, List<String> which, Ailment ailment, int forceMillis, Random random)
            throws IOException, InterruptedException {
        for (String host : which) {
            hosts.sicken(host, ailment, forceMillis);
        }
        bear(hosts);
        if (random.nextInt(3) > 0) {
            return 0;
        }
        int killed = kill(hosts, which);
        for (String host : which) {
            hosts.start(host);
        }
        bear(hosts);
        return killed;
    }

    private static void bear(GroupNodeProcesses hosts) throws IOException, InterruptedException {
        for (long left = SICK_MILLIS; left > 0; left -= LOOK_MILLIS) {
            Thread.sleep(LOOK_MILLIS);
            hosts.startThoseThatEnded();
        }
    }

    private static int cut(GroupNodeProcesses hosts, List<String> which, boolean mute, boolean deaf)
            throws InterruptedException {
        for (String host : which) {
            if (mute) {
                hosts.network().mute(host);
            }
            if (deaf) {
                hosts.network().deafen(host);
            }
        }
        Thread.sleep(CUT_MILLIS);
        return 0;
    }

    private static int kill(GroupNodeProcesses hosts, List<String> which) throws IOException {
        for (String host : which) {
            hosts.kill(host);
        }
        return which.size();
    }

    private static int keepAway(GroupNodeProcesses hosts, String host) throws IOException {
        hosts.kill(host);
        hosts.outgrowLog(AWAY);
        return 1;
    }

    private static int pause(GroupNodeProcesses hosts, String host) throws IOException, InterruptedException {
        hosts.pause(host);
        Thread.sleep(CUT_MILLIS);
        return 0;
    }

    private static int killStarting(GroupNodeProcesses hosts, String host, Random random)
            throws IOException, InterruptedException {
        hosts.kill(host);
        hosts.start(host);
        Thread.sleep(random.nextInt(2500));
        hosts.kill(host);
        return 2;
    }
}
