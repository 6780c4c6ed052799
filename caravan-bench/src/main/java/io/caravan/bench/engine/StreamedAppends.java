package io.caravan.bench.engine;

import io.caravan.Durability;
import io.caravan.bench.peers.Peer;
import io.caravan.bench.report.Charts;
import io.caravan.bench.report.Figure;
import io.caravan.bench.report.Measure;
import io.caravan.bench.report.Picture;
import io.caravan.bench.report.Results;
import io.caravan.bench.report.Table;
import io.caravan.bench.report.Turn;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Measures one producer that does not wait for acknowledgments: Caravan at each durability level, on fresh and on grown
 * stores, and its peers with and without syncs.
 */
final class StreamedAppends implements Measure {
    private static final String NOTES =
            "Caravan acknowledges each append by a callback; its clock stops at the last callback. \"size found\":"
                    + " as much had been appended and deleted before, so its files existed already. The"
                    + " peers commit every 1,000 appends; RocksDB's single puts are synced equally often. \"by"
                    + " hand\" writes and fsyncs"
                    + " the same bytes in batches of the fresh SYNC store's size, and copies the values into a"
                    + " mapped file. Before the first run Caravan has appended 100,000 nine times, and each peer"
                    + " twice. Caravan's longest stall is that of handing over a value; a peer's includes its syncs."
                    + " No system starts another 1,000 appends after %,.1f s, so slow ones are rates over fewer"
                    + " appends.";

    private static final double MILLIS_PER_SECOND = 1e3;

    private final boolean warmUp;
    private final int count;
    private final long limitMillis;
    private final List<Contestant> contestants = new ArrayList<>();
    private final ProducerContestants producers;
    private final @Nullable StreamedAppends shorter;
    private final Results results = new Results();

    private StreamedAppends(
            Stores stores, Workload workload, int count, long limitMillis, @Nullable StreamedAppends shorter) {
        this.shorter = shorter;
        warmUp = !stores.quick();
        this.count = count;
        this.limitMillis = limitMillis;
        producers = new ProducerContestants(stores, workload, count, TimeUnit.MILLISECONDS.toNanos(limitMillis));
    }

    /** Returns a part that runs each contestant for a short time. */
    static StreamedAppends few(Stores stores, Workload workload, int count, long limitMillis) {
        StreamedAppends measure = new StreamedAppends(stores, workload, count, limitMillis, null);
        for (Durability durability : Durability.values()) {
            measure.contestants.add(measure.producers.fresh(durability));
            measure.contestants.add(measure.producers.grown(durability));
        }
        for (Peer peer : Peer.values()) {
            measure.contestants.add(measure.producers.peer(peer, true));
            measure.contestants.add(measure.producers.peer(peer, false));
        }
        return measure;
    }

    /**
     * Returns a part that runs Caravan at all durability levels, long enough that stores have to grow, merge, and clean
     * up. Peers run without syncs only if they are fast.
     *
     * @param shorter the shorter part, which the pictures show next to this one
     */
    static StreamedAppends many(
            Stores stores, Workload workload, int count, long limitMillis, StreamedAppends shorter) {
        StreamedAppends measure = new StreamedAppends(stores, workload, count, limitMillis, shorter);
        for (Durability durability : Durability.values()) {
            measure.contestants.add(measure.producers.fresh(durability));
        }
        measure.contestants.add(measure.producers.grown(Durability.SYNC));
        for (Peer peer : Peer.values()) {
            measure.contestants.add(measure.producers.peer(peer, true));
        }
        for (Peer peer : List.of(Peer.CHRONICLE, Peer.ROCKSDB, Peer.LMDB)) {
            measure.contestants.add(measure.producers.peer(peer, false));
        }
        return measure;
    }

    @Override
    public void run(Turn turn) throws IOException, InterruptedException {
        if (turn.number() == 1 && warmUp && shorter == null) {
            Contest.warmUp(turn, contestants);
            Contest.warmUp(turn, List.of(producers.copy()));
        }
        Contest contest = new Contest(name(), results);
        contest.run(turn, contestants);
        contest.run(turn, List.of(producers.byHand(), producers.copy()));
    }

    private String name() {
        return String.format(Locale.ROOT, "%,d appends, one producer", count);
    }

    @Override
    public Table table() {
        String notes = String.format(Locale.ROOT, NOTES, limitMillis / MILLIS_PER_SECOND);
        String versions =
                Arrays.stream(Peer.values()).map(Peer::version).distinct().collect(Collectors.joining(", "));
        return new Table(name(), notes + " Versions: " + versions + ".", results);
    }

    @Override
    public List<Picture> pictures() {
        return shorter == null ? List.of() : List.of(fsynced(shorter), notFsynced(shorter));
    }

    private Picture fsynced(StreamedAppends few) {
        Bars bars = bars(few, "Appends from one producer, everything fsynced")
                .system(Contestant.CARAVAN, Contestant.CARAVAN, Durability.SYNC.name())
                .system(Contestant.GROWN, Contestant.GROWN, Durability.SYNC.name());
        for (Peer peer : Peer.values()) {
            bars.system(peer.title(), peer.title(), Contestant.SYNCED_BATCHES);
        }
        bars.system(Charts.MACHINE + ", by hand", Contestant.BY_HAND, "fsynced");
        return new Picture(
                "appends-fsynced",
                "Appends from one producer, everything fsynced",
                "Higher is better; the scale is logarithmic. Caravan fsyncs before it acknowledges, the peers sync"
                        + " every 1,000 appends; grey is the same bytes written and fsynced by hand. Caravan fsyncs on its"
                        + " own thread, as often as it can, while the producer continues; a peer's producer waits for each"
                        + " sync.",
                bars.chart());
    }

    private Picture notFsynced(StreamedAppends few) {
        Bars bars = bars(few, "Appends from one producer, not fsynced");
        for (Durability durability : List.of(Durability.PROCESS, Durability.MEMORY)) {
            bars.system(Contestant.CARAVAN + ", " + durability, Contestant.CARAVAN, durability.name());
        }
        for (Peer peer : Peer.values()) {
            bars.system(peer.title(), peer.title(), Contestant.UNSYNCED);
        }
        bars.system(CopiedValues.SYSTEM, CopiedValues.SYSTEM, CopiedValues.DURABILITY);
        return new Picture(
                "appends-not-fsynced",
                "Appends from one producer, not fsynced",
                "Higher is better; the scale is logarithmic. Caravan is shown at its levels PROCESS and NONE, the"
                        + " peers commit every 1,000 appends and never sync; grey is a plain copy of the values in"
                        + " memory.",
                bars.chart());
    }

    private Bars bars(StreamedAppends few, String title) {
        return new Bars(title, "appends per second")
                .group(few.name(), few.results, few.name(), Figure.APPENDS_PER_SECOND)
                .group(name(), results, name(), Figure.APPENDS_PER_SECOND)
                .logarithmic();
    }
}
