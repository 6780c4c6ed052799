package io.caravan.torture.group;

import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/** A client of a Raft group, with its own thread and one connection to each node. */
abstract class GroupClient extends Thread {
    static final Duration IN_TIME = Duration.ofMillis(500);

    final SplittableRandom random;
    final List<ListHistory> lists;
    final Map<String, NodeLink> links = new HashMap<>();
    /** The name of the node that replied last. */
    String leader;

    private final GroupNodeProcesses nodes;
    private volatile boolean ending;

    GroupClient(String name, SplittableRandom random, GroupNodeProcesses nodes, List<ListHistory> lists) {
        super(name);
        this.random = random;
        this.nodes = nodes;
        this.lists = lists;
        this.leader = nodes.ids().get(0);
        setDaemon(true);
    }

    final void requestStop() {
        ending = true;
    }

    final boolean ending() {
        return ending;
    }

    final String anyNode() {
        return nodes.ids().get(random.nextInt(nodes.ids().size()));
    }

    final NodeLink link(String node) throws IOException {
        NodeLink link = links.get(node);
        if (link == null) {
            link = nodes.link(node);
            links.put(node, link);
        }
        return link;
    }
}
