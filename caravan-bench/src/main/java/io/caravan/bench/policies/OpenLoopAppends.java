package io.caravan.bench.policies;

import io.caravan.ListStore;
import io.caravan.bench.engine.Workload;
import io.caravan.engine.PreciseSleeper;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.locks.LockSupport;

/**
 * One producer that appends at a fixed rate, each append when it is due, whether or not earlier ones are durable. Times
 * count from when an append was due, so a store that falls behind is charged for it. Like the store's flusher, it parks
 * for most of a wait and spins at its end.
 */
final class OpenLoopAppends {
    private static final double NANOS_PER_SECOND = 1e9;

    private final PreciseSleeper sleeper =
            new PreciseSleeper(System::nanoTime, Runtime.getRuntime().availableProcessors());
    private final Workload workload;
    private final double intervalNanos;
    private final long count;
    private final long patienceNanos;

    /**
     * Plans the appends.
     *
     * @param perSecond offered rate
     * @param nanos duration; a store that is too slow gets twice as long, after which the remaining appends are dropped
     */
    OpenLoopAppends(Workload workload, int perSecond, long nanos) {
        this.workload = workload;
        intervalNanos = NANOS_PER_SECOND / perSecond;
        count = Math.max(1, (long) (nanos / intervalNanos));
        patienceNanos = 2 * nanos;
    }

    /** Runs the plan; returns when all sent appends are durable. */
    AckTimes run(ListStore store) throws InterruptedException, ExecutionException {
        long start = System.nanoTime();
        AckTimes acks = new AckTimes(start, intervalNanos);
        long sent = 0;
        while (sent < count - 1 && System.nanoTime() - start < patienceNanos) {
            await(acks.dueNanos(sent));
            append(store, sent++, acks);
        }
        await(acks.dueNanos(sent));
        store.append(workload.id((int) sent), workload.value((int) sent), acks.last());
        acks.awaitLast();
        return acks;
    }

    private void append(ListStore store, long index, AckTimes acks) {
        store.append(workload.id((int) index), workload.value((int) index), acks);
    }

    private void await(long dueNanos) {
        for (long park = sleeper.parkOrSpin(dueNanos, () -> false); park > 0; ) {
            LockSupport.parkNanos(park);
            park = sleeper.parkOrSpin(dueNanos, () -> false);
        }
    }
}
