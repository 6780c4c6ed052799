package io.caravan.bench.torture;

import io.caravan.bench.torture.GroupDisks.Ailment;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/** What befalls the hosts of a group while it is written to. */
enum GroupFault {
    KILL_LEADER,
    KILL_FOLLOWER,
    /** Down until the others have dropped of their Raft logs what it lacks: it is sent files. */
    KEEP_FOLLOWER_AWAY,
    KILL_TWO,
    KILL_ALL,
    /** Suspended for longer than an election: it wakes up believing that it leads. */
    PAUSE_LEADER,
    PAUSE_FOLLOWER,
    /** The leader is suspended, and then another one, or the same, is killed. */
    PAUSE_LEADER_AND_KILL,
    /** Killed, started, and killed again while it starts. */
    KILL_STARTING,
    RESTART_ALL,
    /** It hears nobody, and nobody hears it, while it serves the harness as before. */
    CUT_OFF_LEADER,
    CUT_OFF_FOLLOWER,
    /** No host hears another. */
    CUT_OFF_ALL,
    /** Others stand for election, and the leader hears what they say. */
    MUTE_LEADER,
    /** The others go on hearing that it leads, until it gives up by itself. */
    DEAFEN_LEADER,
    MUTE_FOLLOWER,
    DEAFEN_FOLLOWER,
    /** The leader is cut off, and one of the others killed and started. */
    CUT_OFF_LEADER_AND_KILL,
    SLOW_NETWORK,
    /** Its forces take up to a second longer. */
    SLOW_DISK_LEADER,
    SLOW_DISK_FOLLOWER,
    SLOW_DISK_TWO,
    /** Its writes and forces fail, or only its forces. */
    FAILING_DISK_LEADER,
    FAILING_DISK_FOLLOWER,
    FAILING_DISK_TWO,
    FULL_DISK_LEADER,
    FULL_DISK_FOLLOWER,
    FULL_DISK_TWO;

    private static final Duration AWAY = Duration.ofSeconds(5);
    /** Long enough for an election, and for a leader to find that nobody hears it, at least. */
    private static final long CUT_MILLIS = 2 * GroupPlan.ELECTION.toMillis();

    private static final int SLOWEST_MILLIS = 120;
    private static final int SLOWEST_FORCE_MILLIS = 1000;
    /** Long enough for a host to end by itself, and to be started again. */
    private static final long SICK_MILLIS = 2000;

    private static final long LOOK_MILLIS = 100;

    /** Returns the number of processes killed. */
    int strike(GroupHosts hosts, Random random) throws IOException, InterruptedException {
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
                hosts.startBriefly(order.get(1));
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

    /** Whether it needs disks that can be sick. */
    boolean isOfDisks() {
        return compareTo(SLOW_DISK_LEADER) >= 0;
    }

    /** With the leader, or without. */
    private static List<String> two(List<String> order, Random random) {
        return random.nextBoolean() ? order.subList(0, 2) : order.subList(1, 3);
    }

    private static int slow(GroupHosts hosts, List<String> which, Random random)
            throws IOException, InterruptedException {
        return sicken(hosts, which, Ailment.NONE, 1 + random.nextInt(SLOWEST_FORCE_MILLIS), random);
    }

    private static int fail(GroupHosts hosts, List<String> which, Random random)
            throws IOException, InterruptedException {
        return sicken(hosts, which, random.nextBoolean() ? Ailment.FAILS : Ailment.FAILS_FORCES, 0, random);
    }

    /** In some cases the processes are killed meanwhile, and started on their sick disks. */
    private static int sicken(GroupHosts hosts, List<String> which, Ailment ailment, int forceMillis, Random random)
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
            hosts.startBriefly(host);
        }
        bear(hosts);
        return killed;
    }

    private static void bear(GroupHosts hosts) throws IOException, InterruptedException {
        for (long left = SICK_MILLIS; left > 0; left -= LOOK_MILLIS) {
            Thread.sleep(LOOK_MILLIS);
            hosts.startThoseThatEnded();
        }
    }

    private static int cut(GroupHosts hosts, List<String> which, boolean mute, boolean deaf)
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

    private static int kill(GroupHosts hosts, List<String> which) throws IOException {
        for (String host : which) {
            hosts.kill(host);
        }
        return which.size();
    }

    private static int keepAway(GroupHosts hosts, String host) throws IOException {
        hosts.kill(host);
        hosts.outgrowLog(AWAY);
        return 1;
    }

    private static int pause(GroupHosts hosts, String host) throws IOException, InterruptedException {
        hosts.pause(host);
        Thread.sleep(CUT_MILLIS);
        return 0;
    }

    private static int killStarting(GroupHosts hosts, String host, Random random)
            throws IOException, InterruptedException {
        hosts.kill(host);
        hosts.startBriefly(host);
        Thread.sleep(random.nextInt(2500));
        hosts.kill(host);
        return 2;
    }
}
