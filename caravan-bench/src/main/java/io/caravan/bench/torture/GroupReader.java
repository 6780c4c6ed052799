package io.caravan.bench.torture;

import io.caravan.bench.torture.HostCall.Answer;
import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.locks.LockSupport;

/**
 * Makes linearizable reads of lists while other threads write to them. Half of the reads go to the node that replied
 * last. The other half go to any node, because a former leader must not reply, even if it has not detected that it was
 * replaced.
 */
final class GroupReader extends Thread {
    private static final Duration IN_TIME = Duration.ofMillis(500);
    /** Pause between two reads, because each linearizable read costs an entry of the Raft log. */
    private static final long PAUSE_NANOS = 3_000_000;

    private final SplittableRandom random;
    private final GroupHosts hosts;
    private final List<ListHistory> lists;
    private final Map<String, HostLink> links = new HashMap<>();
    private String leader;
    private volatile boolean ending;
    private long reads;

    GroupReader(SplittableRandom random, GroupHosts hosts, List<ListHistory> lists) {
        super("reader");
        this.random = random;
        this.hosts = hosts;
        this.lists = lists;
        this.leader = hosts.ids().get(0);
        setDaemon(true);
    }

    /** Returns the number of successful reads, once the thread has ended. */
    long reads() {
        return reads;
    }

    void askToStop() {
        ending = true;
    }

    @Override
    public void run() {
        while (!ending) {
            String host = random.nextBoolean()
                    ? leader
                    : hosts.ids().get(random.nextInt(hosts.ids().size()));
            try {
                read(host, lists.get(random.nextInt(lists.size())));
            } catch (IOException silent) {
                drop(host);
            }
            LockSupport.parkNanos(PAUSE_NANOS);
        }
        List.copyOf(links.keySet()).forEach(this::drop);
    }

    private void read(String host, ListHistory list) throws IOException {
        HostLink link = links.get(host);
        if (link == null) {
            link = hosts.link(host);
            links.put(host, link);
        }
        long began = System.nanoTime();
        link.send(HostCall.strictRead(list.id()));
        if (link.answer(IN_TIME) == Answer.DONE) {
            ListModel seen = link.list();
            list.shown(new StrictReads.Read(began, System.nanoTime(), seen, host));
            leader = host;
            reads++;
        } else {
            link.why();
        }
    }

    private void drop(String host) {
        HostLink link = links.remove(host);
        if (link != null) {
            link.end();
        }
    }
}
