package io.caravan.torture.group;

import io.caravan.torture.group.NodeCall.Reply;
import io.caravan.torture.model.ListModel;
import java.io.IOException;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.locks.LockSupport;

/**
 * Performs linearizable reads of lists while other threads write to them. Half of the reads go to the node that replied
 * last. The other half go to any node, because a former leader must not reply, even if it has not detected that it was
 * replaced.
 */
final class GroupReader extends GroupClient {
    /** The pause between two linearizable reads, each of which adds an entry to the Raft log. */
    private static final long PAUSE_NANOS = 3_000_000;

    private long reads;

    GroupReader(SplittableRandom random, GroupNodeProcesses nodes, List<ListHistory> lists) {
        super("reader", random, nodes, lists);
    }

    /** Returns the number of successful reads; valid only after the thread has ended. */
    long reads() {
        return reads;
    }

    @Override
    public void run() {
        while (!ending()) {
            String node = random.nextBoolean() ? leader : anyNode();
            try {
                read(node, lists.get(random.nextInt(lists.size())));
            } catch (IOException silent) {
                drop(node);
            }
            LockSupport.parkNanos(PAUSE_NANOS);
        }
        links.values().forEach(NodeLink::end);
    }

    private void read(String node, ListHistory list) throws IOException {
        NodeLink link = link(node);
        long began = System.nanoTime();
        link.send(NodeCall.strictRead(list.id()));
        if (link.reply(IN_TIME) == Reply.DONE) {
            ListModel seen = link.list();
            list.shown(new LinearizabilityChecker.Read(began, System.nanoTime(), seen, node));
            leader = node;
            reads++;
        } else {
            link.why();
        }
    }

    private void drop(String node) {
        NodeLink link = links.remove(node);
        if (link != null) {
            link.end();
        }
    }
}
