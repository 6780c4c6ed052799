package io.caravan.bench.engine;

import io.caravan.Durability;
import io.caravan.ListStore;
import io.caravan.bench.WorkDirectories;
import io.caravan.bench.peers.GroupCommit;
import io.caravan.bench.peers.Peer;
import io.caravan.bench.peers.PeerReader;
import io.caravan.bench.peers.PeerStore;
import io.caravan.bench.report.Charts;
import io.caravan.bench.report.Figure;
import io.caravan.bench.report.FsyncProbe;
import io.caravan.bench.report.Measure;
import io.caravan.bench.report.Measurement;
import io.caravan.bench.report.Picture;
import io.caravan.bench.report.Results;
import io.caravan.bench.report.Table;
import io.caravan.bench.report.Turn;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;

/**
 * Measures writers that each wait for an acknowledgment before their next append. The disk's fsyncs limit a single
 * writer; thread wake-ups limit many writers.
 */
final class WaitingWriters implements Measure {
    private static final String ONE_NOTES = "The peers commit after each append on the writer's own thread."
            + " The machine's row is one fsync by a write; an msync may differ.";
    private static final String MANY_NOTES =
            "In front of the peers, a group-commit thread takes all waiting requests, appends them, commits once and"
                    + " notifies all writers. \"the machine, wake-ups\" is the same threads with nothing stored;"
                    + " \"the machine, fsyncs\" is one write and fsync for the values of all writers together.";
    private static final String FSYNCED = "fsynced";
    private static final String FSYNC = Charts.MACHINE + ", write and fsync of 4 KiB";
    private static final String FSYNCS = Charts.MACHINE + ", fsyncs";
    private static final String WAKE_UPS = Charts.MACHINE + ", wake-ups";

    private final Stores stores;
    private final Workload workload;
    private final int writers;
    private final int millis;
    private final int fsyncs;
    private final String name;
    private final Results results = new Results();

    /**
     * Creates this part of the benchmark.
     *
     * @param millis time for each system
     * @param fsyncs number of plain fsyncs, for comparison
     */
    WaitingWriters(Stores stores, Workload workload, int writers, int millis, int fsyncs) {
        this.stores = stores;
        this.workload = workload;
        this.writers = writers;
        this.millis = millis;
        this.fsyncs = fsyncs;
        name = writers == 1 ? "one writer that waits for each" : writers + " writers that wait for each";
    }

    @Override
    public void run(Turn turn) throws IOException, InterruptedException {
        if (turn.number() == 1 && !stores.quick()) {
            Contest.warmUp(turn, contestants());
        }
        new Contest(name, results).run(turn, contestants());
    }

    private List<Contestant> contestants() {
        List<Contestant> all = new ArrayList<>();
        for (Durability durability : Durability.values()) {
            all.add(caravan(durability));
        }
        for (Peer peer : Peer.values()) {
            if (peer != Peer.ROCKSDB_PUTS) {
                all.add(peer(peer));
            }
        }
        if (writers > 1) {
            all.add(wakeUps());
        }
        all.add(fsyncs());
        return all;
    }

    private Contestant caravan(Durability durability) {
        return new Contestant(Contestant.CARAVAN, durability.name(), directory -> {
            try (ListStore store = stores.open(directory, durability)) {
                return append((id, value) -> store.append(id, value).get());
            }
        });
    }

    private Contestant peer(Peer peer) {
        String durability = writers == 1 ? Contestant.SYNCED_EACH : Contestant.SYNCED_TOGETHER;
        return new Contestant(peer.title(), durability, directory -> {
            try (PeerStore store = peer.open(directory, true)) {
                return writers == 1 ? alone(store) : together(store);
            }
        });
    }

    private Measurement alone(PeerStore store) throws IOException, InterruptedException {
        return append((id, value) -> {
            store.append(id, value);
            store.commit();
        });
    }

    private Measurement together(PeerStore store) throws IOException, InterruptedException {
        try (GroupCommit group = new GroupCommit(store)) {
            return append((id, value) -> group.append(id, value).get());
        }
    }

    private Contestant wakeUps() {
        return new Contestant(WAKE_UPS, "nothing stored", directory -> together(new NoStore()));
    }

    /** Returns a contestant for the ideal case, in which one fsync acknowledges the values of all writers. */
    private Contestant fsyncs() {
        return new Contestant(writers == 1 ? FSYNC : FSYNCS, FSYNCED, directory -> {
            int blocks = (writers * Workload.SMALL_MEAN_BYTES - 1) / FsyncProbe.SMALL_BLOCK_BYTES + 1;
            WorkDirectories.create(directory);
            Measurement fsync = FsyncProbe.run(directory, blocks * FsyncProbe.SMALL_BLOCK_BYTES, fsyncs);
            return new Measurement()
                    .with(Figure.APPENDS_PER_SECOND, writers * fsync.get(Figure.APPENDS_PER_SECOND))
                    .with(Figure.P50_MICROS, fsync.get(Figure.P50_MICROS))
                    .with(Figure.P99_MICROS, fsync.get(Figure.P99_MICROS));
        });
    }

    private interface Append {
        void andWait(long id, byte[] value) throws IOException, InterruptedException, ExecutionException;
    }

    private Measurement append(Append append) throws IOException, InterruptedException {
        return new WaitingAppends(writers, millis).run(i -> append.andWait(workload.id(i), workload.value(i)));
    }

    @Override
    public Table table() {
        return new Table(name, writers == 1 ? ONE_NOTES : MANY_NOTES, results);
    }

    @Override
    public List<Picture> pictures() {
        return List.of(writers == 1 ? latency() : acknowledgments());
    }

    private Picture latency() {
        String title = "One writer that waits for each append to be on the disk";
        Bars bars = new Bars(title, "microseconds")
                .group("median", results, name, Figure.P50_MICROS)
                .group("99th percentile", results, name, Figure.P99_MICROS)
                .logarithmic();
        return new Picture(
                "one-writer",
                title,
                "Lower is better; the scale is logarithmic. Grey is one write and fsync of 4 KiB.",
                systems(bars).chart());
    }

    private Picture acknowledgments() {
        String title = writers + " writers that each wait for their append to be on the disk";
        Bars bars = new Bars(title, "acknowledgments per second")
                .group("all writers together", results, name, Figure.APPENDS_PER_SECOND);
        return new Picture(
                "many-writers",
                title,
                "Higher is better. Grey bars are the machine's limits: waking the same threads with nothing stored,"
                        + " and consecutive fsyncs for all writers' values together.",
                systems(bars).system(WAKE_UPS, WAKE_UPS, "nothing stored").chart());
    }

    private Bars systems(Bars bars) {
        bars.system(Contestant.CARAVAN, Contestant.CARAVAN, Durability.SYNC.name());
        for (Peer peer : Peer.values()) {
            bars.system(peer.title(), peer.title(), writers == 1 ? Contestant.SYNCED_EACH : Contestant.SYNCED_TOGETHER);
        }
        String machine = writers == 1 ? FSYNC : FSYNCS;
        return bars.system(machine, machine, FSYNCED);
    }

    /** A store that accepts everything and stores nothing. */
    private static final class NoStore implements PeerStore {
        @Override
        public void append(long id, byte[] value) {}

        @Override
        public void commit() {}

        @Override
        public PeerReader reader() {
            throw new UnsupportedOperationException("nothing is stored");
        }

        @Override
        public void close() {}
    }
}
