package io.caravan.bench.engine;

import io.caravan.CaravanException;
import io.caravan.Durability;
import io.caravan.ListStore;
import io.caravan.StoreStats;
import io.caravan.WriteCallback;
import io.caravan.bench.WorkDirectories;
import io.caravan.bench.engine.AppendLoop.Pace;
import io.caravan.bench.peers.Peer;
import io.caravan.bench.peers.PeerStore;
import io.caravan.bench.report.HandFile;
import io.caravan.bench.report.Measurement;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.file.Path;

/** Contestants that append from one thread without waiting. */
final class ProducerContestants {
    private final Stores stores;
    private final Workload workload;
    private final int count;
    private final long limitNanos;
    private AsyncAppends.Batches batches = new AsyncAppends.Batches(0, 0, 0);

    ProducerContestants(Stores stores, Workload workload, int count, long limitNanos) {
        this.stores = stores;
        this.workload = workload;
        this.count = count;
        this.limitNanos = limitNanos;
    }

    /** Returns the log batches of the last run on a fresh store with fsyncs. */
    AsyncAppends.Batches batches() {
        return batches;
    }

    Contestant fresh(Durability durability) {
        return new Contestant(Contestant.CARAVAN, durability.name(), directory -> {
            try (ListStore store = stores.open(directory, durability)) {
                AsyncAppends.Outcome outcome = append(store);
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

    private AsyncAppends.Outcome append(ListStore store) throws IOException {
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
        return pace.addTo(new Measurement().rate(pace.appends(), workload.bytes(pace.appends()), nanos));
    }

    /**
     * Returns a contestant that, without a store, writes the same bytes as the last run on a fresh store with fsyncs,
     * in batches of the same size.
     */
    Contestant byHand() {
        return new Contestant(Contestant.BY_HAND, "fsynced", directory -> {
            try (ByHand byHand = new ByHand(workload, directory)) {
                return byHand.run(batches);
            }
        });
    }

    /** Returns a contestant that copies the values in memory; no store can be faster. */
    Contestant copy() {
        return new Contestant(
                CopiedValues.SYSTEM,
                CopiedValues.DURABILITY,
                directory -> new CopiedValues(workload, count, limitNanos).run());
    }

    /**
     * Writes the bytes that a store would write, but on one thread and without a store. Assembles each batch in a
     * buffer, writes and fsyncs the batch with two calls, and copies its values into a mapped file. The batches have
     * the mean size of the store's batches. The files are prepared before the clock starts.
     */
    private static final class ByHand implements AutoCloseable {
        private final Workload workload;
        private final HandFile log;
        private final HandFile heap;

        ByHand(Workload workload, Path directory) throws IOException {
            WorkDirectories.create(directory);
            this.workload = workload;
            log = new HandFile(directory.resolve("by-hand.log"));
            heap = new HandFile(directory.resolve("by-hand.heap"));
        }

        Measurement run(AsyncAppends.Batches batches) throws IOException {
            int count = batches.appends();
            long fsyncs = Math.max(1, batches.fsyncs());
            long valueBytes = workload.bytes(count);
            int batchBytes = (int) Math.max(1, batches.logBytes() / fsyncs);
            log.prepare(fsyncs * batchBytes);
            heap.prepare(valueBytes);
            MappedByteBuffer mapped = heap.map(valueBytes).load();
            ByteBuffer batch = ByteBuffer.allocateDirect(batchBytes);
            long start = System.nanoTime();
            LongestGap gap = new LongestGap(start);
            for (long i = 0; i < fsyncs; i++) {
                int from = (int) (count * i / fsyncs);
                int to = (int) (count * (i + 1) / fsyncs);
                writeBatch(batch, from, to, i * batchBytes);
                for (int value = from; value < to; value++) {
                    mapped.put(workload.value(value));
                }
                gap.eventAt(System.nanoTime());
            }
            long nanos = System.nanoTime() - start;
            return new Measurement()
                    .rate(count, valueBytes, fsyncs * batchBytes, nanos)
                    .longestAckGap(gap.nanos())
                    .batches(fsyncs, fsyncs * batchBytes);
        }

        private void writeBatch(ByteBuffer batch, int from, int to, long position) throws IOException {
            batch.clear();
            for (int value = from; value < to; value++) {
                byte[] bytes = workload.value(value);
                batch.put(bytes, 0, Math.min(bytes.length, batch.remaining()));
            }
            log.write(batch.clear(), position);
            log.fsync();
        }

        @Override
        public void close() throws IOException {
            log.close();
            heap.close();
        }
    }

    /** One producer that appends at full speed. The measured time ends when all appends are committed. */
    static final class AsyncAppends {
        private final Workload workload;
        private final AppendLoop loop;

        /** Creates a producer that appends until a count or a time limit is reached. */
        AsyncAppends(Workload workload, int count, long limitNanos) {
            this.workload = workload;
            loop = new AppendLoop(workload, count, limitNanos);
        }

        /**
         * Totals that describe the batches in which a store wrote its log.
         *
         * @param appends total number of appends
         * @param fsyncs number of fsyncs of the log
         */
        record Batches(int appends, long fsyncs, long logBytes) {}

        /** The result of a run, and the store's batches, which {@link ByHand} reproduces. */
        record Outcome(Measurement measurement, Batches batches) {}

        Outcome run(ListStore store) throws IOException {
            StoreStats before = store.stats();
            Acknowledgments acknowledgments = new Acknowledgments(System.nanoTime());
            Pace pace = loop.run(new AppendLoop.Target() {
                @Override
                public void append(long id, byte[] value) {
                    store.append(id, value, acknowledgments);
                }

                @Override
                public void endBatch() {}
            });
            store.flush();
            long nanos = System.nanoTime() - pace.startNanos();
            // A flush is counted after it is acknowledged, so the second flush ensures that the first one is counted.
            store.flush();
            StoreStats after = store.stats();
            Batches batches =
                    new Batches(pace.appends(), after.fsyncs() - before.fsyncs(), after.logBytes() - before.logBytes());
            Measurement measurement =
                    new Measurement().rate(pace.appends(), workload.bytes(pace.appends()), batches.logBytes(), nanos);
            pace.addTo(measurement).longestAckGap(acknowledgments.gap.nanos());
            if (batches.fsyncs() > 0) {
                measurement.batches(batches.fsyncs(), batches.logBytes());
            }
            return new Outcome(measurement, batches);
        }

        /** Measures the longest gap between acknowledgments. Called only on the acknowledging thread. */
        private static final class Acknowledgments implements WriteCallback {
            private final LongestGap gap;

            Acknowledgments(long startNanos) {
                gap = new LongestGap(startNanos);
            }

            @Override
            public void success(long sequence) {
                gap.event();
            }

            @Override
            public void failure(CaravanException problem) {
                throw problem;
            }
        }
    }
}
