package io.caravan.bench.engine;

import io.caravan.Durability;
import io.caravan.ListStore;
import io.caravan.bench.engine.AppendLoop.Pace;
import io.caravan.bench.engine.AsyncAppends.Batches;
import io.caravan.bench.engine.AsyncAppends.Outcome;
import io.caravan.bench.peers.Peer;
import io.caravan.bench.peers.PeerStore;
import io.caravan.bench.report.Figure;
import io.caravan.bench.report.Measurement;
import java.io.IOException;

/** Contestants that append from one thread without waiting. */
final class Producers {
    private final Stores stores;
    private final Workload workload;
    private final int count;
    private final long limitNanos;
    /** The batches of the last fresh store that fsynced, which {@link #byHand} imitates. */
    private Batches batches = new Batches(0, 0, 0);

    Producers(Stores stores, Workload workload, int count, long limitNanos) {
        this.stores = stores;
        this.workload = workload;
        this.count = count;
        this.limitNanos = limitNanos;
    }

    Contestant fresh(Durability durability) {
        return new Contestant(Contestant.CARAVAN, durability.name(), directory -> {
            try (ListStore store = stores.open(directory, durability)) {
                Outcome outcome = append(store);
                if (durability == Durability.SYNC) {
                    batches = outcome.batches();
                }
                return outcome.measurement();
            }
        });
    }

    Contestant grown(Durability durability) {
        return new Contestant(Contestant.GROWN, durability.name(), directory -> {
            try (ListStore store = stores.open(directory, durability)) {
                append(store);
                Stores.empty(store);
                return append(store).measurement();
            }
        });
    }

    private Outcome append(ListStore store) throws IOException {
        return new AsyncAppends(workload, count, limitNanos).run(store);
    }

    Contestant peer(Peer peer, boolean synced) {
        return new Contestant(peer.title(), synced ? Contestant.SYNCED_BATCHES : Contestant.UNSYNCED, directory -> {
            try (PeerStore store = peer.open(directory, synced)) {
                return append(store);
            }
        });
    }

    private Measurement append(PeerStore store) throws IOException {
        Pace pace = new AppendLoop(workload, count, limitNanos).run(new AppendLoop.Target() {
            @Override
            public void append(long id, byte[] value) throws IOException {
                store.append(id, value);
            }

            @Override
            public void endBatch() throws IOException {
                store.commit();
            }
        });
        long nanos = System.nanoTime() - pace.startNanos();
        return new Measurement()
                .appendsPerSecond(pace.appends(), nanos)
                .with(Figure.VALUE_MB_PER_SECOND, AppendFigures.mbPerSecond(workload.bytes(pace.appends()), nanos))
                .longestAppend(pace.longestNanos())
                .with(AppendFigures.BATCH_P99_MILLIS, AppendFigures.p99Millis(pace));
    }

    /**
     * Returns a contestant that writes the same bytes as the last fresh store that fsynced, in batches of the same
     * size.
     */
    Contestant byHand() {
        return new Contestant(Contestant.BY_HAND, "forced", directory -> {
            try (ByHand byHand = new ByHand(workload, directory)) {
                return byHand.run(batches);
            }
        });
    }

    /** Returns a contestant that copies the values in memory: an upper bound for any store. */
    Contestant copy() {
        return new Contestant(
                CopiedValues.SYSTEM,
                CopiedValues.DURABILITY,
                directory -> new CopiedValues(workload, count, limitNanos).run());
    }
}
