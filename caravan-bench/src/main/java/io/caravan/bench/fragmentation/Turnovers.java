package io.caravan.bench.fragmentation;

import io.caravan.bench.report.Charts;
import io.caravan.bench.report.Figure;
import io.caravan.bench.report.Measure;
import io.caravan.bench.report.Measurement;
import io.caravan.bench.report.Picture;
import io.caravan.bench.report.Results;
import io.caravan.bench.report.Results.Row;
import io.caravan.bench.report.Table;
import io.caravan.bench.report.Turn;
import io.caravan.heap.Heap;
import io.caravan.heap.IndexedHeap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.HdrHistogram.Histogram;

/** Runs the same life on each heap, and inspects the heap after selected turnovers. */
final class Turnovers implements Measure {
    static final String CARAVAN = "Caravan";
    static final String FIRST_FIT = "first fit, linked list";
    static final List<Integer> LOOKS = List.of(1, 2, 3, 5, 7, 10, 15, 20, 25, 30, 35, 40, 45, 50);

    private static final int TURNOVERS = LOOKS.get(LOOKS.size() - 1);

    static final Figure SIZE_RATIO = new Figure("size / live", "%,.3f");
    /** The lower bound for a heap that neither moves regions nor shrinks. */
    static final Figure LEAST_RATIO = new Figure("most ever live / live", "%,.3f");

    static final Figure ASK_MEAN_NANOS = new Figure("allocation, mean, ns", "%,.0f");
    static final Figure ASK_P50_NANOS = new Figure("allocation, p50, ns", "%,.0f");
    static final Figure ASK_P99_NANOS = new Figure("allocation, p99, ns", "%,.0f");
    private static final Figure FREE_MEAN_NANOS = new Figure("free, mean, ns", "%,.0f");
    private static final Figure FREE_P99_NANOS = new Figure("free, p99, ns", "%,.0f");
    private static final Figure HOLES = new Figure("holes", "%,.0f");
    private static final Figure LIVE_MB = new Figure("live, MB", "%,.2f");

    /** The cost of the list grows with the data, so the data is small and the time is limited. */
    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(20);

    private static final int CLOCK_READS = 100_000;
    private static final int DIGITS = 3;
    private static final double BYTES_PER_MB = 1e6;
    private static final String DURABILITY = "in memory";

    static final Row CLOCK = new Row("reading the clock", Charts.MACHINE, DURABILITY);

    private record Subject(String name, Supplier<Heap> heap) {}

    private static final List<Subject> SUBJECTS =
            List.of(new Subject(CARAVAN, IndexedHeap::new), new Subject(FIRST_FIT, FirstFitHeap::new));

    private final Results results = new Results();
    private final Map<String, MapPair> maps = new LinkedHashMap<>();
    private final boolean warms;
    private final int documents;

    /** A few documents show that it works, but not how fast it is. */
    Turnovers(boolean quick) {
        warms = !quick;
        documents = quick ? 20 : 400;
    }

    @Override
    public void run(Turn turn) {
        if (warms && turn.number() == 1) {
            warmUp(turn);
        }
        clock();
        for (Subject subject : turn.inTurn(SUBJECTS)) {
            turn.say("turnovers of " + documents + " documents, " + subject.name());
            live(subject, turn.number());
        }
    }

    private void warmUp(Turn turn) {
        turn.say("warming up");
        for (Subject subject : SUBJECTS) {
            MeasuredHeap heap = new MeasuredHeap(subject.heap().get());
            ServerLife life = new ServerLife(0, documents, heap);
            long untilBytes = life.writtenBytes() * 3;
            while (life.writtenBytes() < untilBytes) {
                life.step();
            }
        }
    }

    /** The overhead in each time: two readings of the clock, one of which counts. */
    private void clock() {
        Histogram nanos = new Histogram(DIGITS);
        for (int i = 0; i < CLOCK_READS; i++) {
            long start = System.nanoTime();
            nanos.recordValue(System.nanoTime() - start);
        }
        results.add(CLOCK, asks(nanos));
    }

    private void live(Subject subject, int seed) {
        long start = System.nanoTime();
        MeasuredHeap heap = new MeasuredHeap(subject.heap().get());
        ServerLife life = new ServerLife(seed, documents, heap);
        long firstBytes = life.writtenBytes();
        HeapMap before = heap.map();
        heap.forgetTimes();
        int turnover = 0;
        while (turnover < TURNOVERS && System.nanoTime() - start < PATIENCE_NANOS) {
            turnover++;
            while (life.writtenBytes() - firstBytes < turnover * life.bornBytes()) {
                life.step();
            }
            if (LOOKS.contains(turnover)) {
                results.add(row(turnover, subject.name()), look(heap));
                heap.forgetTimes();
            }
        }
        maps.put(subject.name(), new MapPair(before, heap.map(), turnover));
    }

    static Row row(int turnover, String system) {
        return new Row("turnover " + turnover, system, DURABILITY);
    }

    private static Measurement look(MeasuredHeap heap) {
        return asks(heap.askNanos())
                .with(FREE_MEAN_NANOS, heap.freeNanos().getMean())
                .with(FREE_P99_NANOS, heap.freeNanos().getValueAtPercentile(99))
                .with(SIZE_RATIO, (double) heap.extentBytes() / heap.usedBytes())
                .with(LEAST_RATIO, (double) heap.mostUsedBytes() / heap.usedBytes())
                .with(HOLES, heap.holes())
                .with(LIVE_MB, heap.usedBytes() / BYTES_PER_MB);
    }

    private static Measurement asks(Histogram nanos) {
        return new Measurement()
                .with(ASK_MEAN_NANOS, nanos.getMean())
                .with(ASK_P50_NANOS, nanos.getValueAtPercentile(50))
                .with(ASK_P99_NANOS, nanos.getValueAtPercentile(99));
    }

    @Override
    public Table table() {
        return new Table(
                "A heap over the life of a document server",
                documents
                        + " documents are edited by appends of 16 to 400 bytes, snapshotted, trimmed and deleted, some"
                        + " far more often than others; a turnover ends when as many bytes have been written as were"
                        + " live at the start. Both heaps go through the same life, with a different seed in each"
                        + " run. The size is how far into one endless hole any region has ever reached: the size of"
                        + " the file. Its lower bound is the most that was ever live at once; the difference is"
                        + " holes. Live bytes are entries with their heads, padded to 8 bytes. Times are of single"
                        + " calls since the previous row; they include reading the clock, which the first row shows."
                        + " The baseline is a first-fit linked list of holes in address order, implemented for this"
                        + " suite. A heap that has taken "
                        + TimeUnit.NANOSECONDS.toSeconds(PATIENCE_NANOS) + " s in a run stops there.",
                results);
    }

    @Override
    public List<Picture> pictures() {
        return new TurnoverPictures(results, maps).all();
    }
}
