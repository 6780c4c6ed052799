package io.caravan.torture.group;

import io.caravan.CaravanException;
import io.caravan.DurableListStore;
import io.caravan.ListInfo;
import java.io.IOException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/** Contains main classes of Raft group nodes that each break a guarantee. */
final class LyingNode {
    private static final int WRITES = 20;

    private LyingNode() {}

    /** Acknowledges writes when its own store has accepted them, before the group has committed them. */
    static final class RepliesEarly extends GroupNodeProcess {
        public static void main(String[] arguments) throws IOException {
            System.exit(new RepliesEarly().run(GroupPlan.parse(arguments)));
        }

        @Override
        long change(DurableListStore store, NodeCall call) {
            ListInfo before = store.info(call.list());
            submit(store, call);
            return before == null ? 0 : before.nextSequence();
        }
    }

    /** Exits in the middle of a write, as after an error that the JVM does not survive. */
    static final class Exits extends GroupNodeProcess {
        private final AtomicInteger left = new AtomicInteger(WRITES);

        public static void main(String[] arguments) throws IOException {
            System.exit(new Exits().run(GroupPlan.parse(arguments)));
        }

        @Override
        long change(DurableListStore store, NodeCall call) {
            if (left.decrementAndGet() == 0) {
                Runtime.getRuntime().halt(1);
            }
            return super.change(store, call);
        }
    }

    /** Continues to serve requests after another leader has replaced it, as if its store still acknowledged writes. */
    static final class KeepsServing extends GroupNodeProcess {
        private final Map<Long, Long> nextSequences = new ConcurrentHashMap<>();
        private volatile boolean replaced;

        public static void main(String[] arguments) throws IOException {
            System.exit(new KeepsServing().run(GroupPlan.parse(arguments)));
        }

        @Override
        long change(DurableListStore store, NodeCall call) {
            try {
                long sequence = super.change(store, call);
                if (call.kind() == NodeCall.Kind.APPEND) {
                    nextSequences.put(call.list(), sequence + 1);
                }
                return sequence;
            } catch (CaravanException lost) {
                return nextSequences.merge(call.list(), 1L, Long::sum) - 1;
            }
        }

        /** Keeps using the store of the node's first term. */
        @Override
        public void leads(DurableListStore store) {
            if (!replaced) {
                super.leads(store);
            }
        }

        @Override
        public void follows() {
            replaced = true;
        }
    }
}
