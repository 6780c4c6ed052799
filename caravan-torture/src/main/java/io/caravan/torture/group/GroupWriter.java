package io.caravan.torture.group;

import io.caravan.torture.group.NodeCall.Reply;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.locks.LockSupport;

/**
 * Writes to its own lists through the leader, with at most one outstanding change per list. If a result is late, the
 * writer makes no further changes to the list until the result arrives. A suspended node may still make the change when
 * it resumes, and this change must then be the last one to the list.
 */
final class GroupWriter extends GroupClient {
    private static final Duration POLL = Duration.ofMillis(1);
    private static final long PAUSE_NANOS = 5_000_000;
    private static final long TEMPORARY_LISTS = 2;

    private record Late(NodeLink link, ListHistory list, NodeCall call, long sent) {}

    private final List<Late> late = new ArrayList<>();
    private final List<ListHistory> awake;
    private long number;
    private long acknowledged;
    private long unknown;

    GroupWriter(SplittableRandom random, GroupNodeProcesses nodes, List<ListHistory> lists, long firstNumber) {
        super("writer", random, nodes, lists);
        this.awake = new ArrayList<>(lists);
        this.number = firstNumber;
    }

    /** Returns the number that identifies the writer's next value. */
    long number() {
        return number;
    }

    long acknowledged() {
        return acknowledged;
    }

    long unknown() {
        return unknown;
    }

    @Override
    public void run() {
        while (!ending()) {
            if (awake.isEmpty()) {
                receive();
                LockSupport.parkNanos(PAUSE_NANOS);
                continue;
            }
            ListHistory list = awake.get(random.nextInt(awake.size()));
            if (list.isVague()) {
                awake.remove(list);
            } else if (!change(list, next(list))) {
                leader = anyNode();
                receive();
                LockSupport.parkNanos(PAUSE_NANOS);
            }
        }
    }

    /** Receives results that have arrived late, or detects that they will not arrive because the node was killed. */
    private void receive() {
        for (Late waiting : List.copyOf(late)) {
            try {
                receive(waiting, POLL);
                late.remove(waiting);
                awake.add(waiting.list());
            } catch (SocketTimeoutException later) {
                // The list still receives no further changes.
            }
        }
    }

    private NodeCall next(ListHistory list) {
        int dice = random.nextInt(1000);
        if (dice < 60) {
            return NodeCall.trim(list.id(), list.sequence(random.nextInt(60)));
        } else if (dice < 70 && lists.indexOf(list) < TEMPORARY_LISTS) {
            return NodeCall.delete(list.id());
        }
        int length = random.nextInt(10) == 0 ? GroupPlan.MAX_VALUE_BYTES : 300;
        return NodeCall.append(list.id(), number++, 24 + random.nextInt(length - 23));
    }

    /** Requests a change to a list from the leader. Returns whether it was acknowledged. */
    private boolean change(ListHistory list, NodeCall call) {
        NodeLink link;
        try {
            link = link(leader);
        } catch (IOException notUp) {
            return false;
        }
        long sent = System.nanoTime();
        try {
            link.send(call);
            return received(link, list, call, sent, IN_TIME);
        } catch (SocketTimeoutException waiting) {
            links.remove(leader);
            late.add(new Late(link, list, call, sent));
            awake.remove(list);
        } catch (IOException broken) {
            links.remove(leader);
            unknown(list, call, sent);
        }
        return false;
    }

    /** Receives the result of a change. Returns whether the change was acknowledged. */
    private boolean received(NodeLink link, ListHistory list, NodeCall call, long sent, Duration timeout)
            throws IOException {
        Reply reply = link.reply(timeout);
        if (reply == Reply.DONE) {
            list.changed(call, link.result(), sent);
            acknowledged++;
            return true;
        }
        link.why();
        if (reply == Reply.UNKNOWN) {
            unknown(list, call, sent);
        }
        return false;
    }

    private void unknown(ListHistory list, NodeCall call, long sent) {
        list.changed(call, ListHistory.UNKNOWN, sent);
        unknown++;
    }

    /**
     * Receives the outstanding results, after the thread has ended.
     *
     * @throws SocketTimeoutException if a node that is up does not reply
     */
    void readToEnd(Duration timeout) throws SocketTimeoutException {
        for (Late waiting : late) {
            receive(waiting, timeout);
        }
        links.values().forEach(NodeLink::end);
    }

    /** Receives a late result, and then closes the connection on which it arrived. */
    private void receive(Late waiting, Duration timeout) throws SocketTimeoutException {
        try {
            received(waiting.link(), waiting.list(), waiting.call(), waiting.sent(), timeout);
        } catch (SocketTimeoutException hangs) {
            throw hangs;
        } catch (IOException killed) {
            unknown(waiting.list(), waiting.call(), waiting.sent());
        }
        waiting.link().end();
    }
}
