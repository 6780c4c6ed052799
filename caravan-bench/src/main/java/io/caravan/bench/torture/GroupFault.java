package io.caravan.bench.torture;

import java.io.IOException;
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
    RESTART_ALL;

    private static final long AWAY_MILLIS = 4_000;

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
            case KILL_TWO -> kill(hosts, random.nextBoolean() ? order.subList(0, 2) : order.subList(1, 3));
            case KILL_ALL -> kill(hosts, order);
            case PAUSE_LEADER -> pause(hosts, order.get(0));
            case PAUSE_FOLLOWER -> pause(hosts, order.get(1));
            case PAUSE_LEADER_AND_KILL -> pause(hosts, order.get(0)) + kill(hosts, order.subList(1, 2));
            case KILL_STARTING -> killStarting(hosts, order.get(random.nextInt(2)), random);
            case RESTART_ALL -> {
                hosts.stop();
                yield 0;
            }
        };
    }

    private static int kill(GroupHosts hosts, List<String> which) throws IOException {
        for (String host : which) {
            hosts.kill(host);
        }
        return which.size();
    }

    private static int keepAway(GroupHosts hosts, String host) throws IOException, InterruptedException {
        hosts.kill(host);
        Thread.sleep(AWAY_MILLIS);
        return 1;
    }

    private static int pause(GroupHosts hosts, String host) throws IOException {
        hosts.pause(host);
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
