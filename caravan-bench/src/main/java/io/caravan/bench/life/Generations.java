package io.caravan.bench.life;

import io.caravan.bench.engine.Contest;
import io.caravan.bench.engine.Contestant;
import io.caravan.bench.life.DocumentLife.Activity;
import io.caravan.bench.life.LifeRun.End;
import io.caravan.bench.report.Charts;
import io.caravan.bench.report.Figure;
import io.caravan.bench.report.Measure;
import io.caravan.bench.report.Picture;
import io.caravan.bench.report.Results;
import io.caravan.bench.report.Results.Row;
import io.caravan.bench.report.Table;
import io.caravan.bench.report.Turn;
import java.io.IOException;
import java.util.List;
import org.knowm.xchart.XYChart;

/** Caravan with more or less log between two checkpoints. */
final class Generations implements Measure {
    private static final List<Generation> GENERATIONS =
            List.of(new Generation(16, 16), new Generation(64, 8), new Generation(256, 2), new Generation(1024, 1));
    /** So little that the floor alone decides when a checkpoint starts. */
    private static final double NO_FRACTION = 1e-9;

    private static final long SECONDS = 30;
    private static final int BYTES_PER_MIB = 1 << 20;

    private final LifeRun run;
    private final long mostLogBytes;
    private final Results results = new Results();

    /** Creates the measure of lives with at most so much log. */
    Generations(LifeRun run, long mostLogBytes) {
        this.run = run;
        this.mostLogBytes = mostLogBytes;
    }

    /**
     * The log between two checkpoints. A life takes a number of them, of which closing the store ends the last; one is
     * enough, as documents are at their usual distances from their next snapshots from the beginning.
     */
    private record Generation(int mib, int times) {
        String system() {
            return "Caravan, " + mib + " MiB of log between checkpoints";
        }

        long bytes() {
            return (long) mib * BYTES_PER_MIB;
        }
    }

    /** Only in the first turn: bytes are counted, not timed. */
    @Override
    public void run(Turn turn) throws IOException, InterruptedException {
        if (turn.number() > 1) {
            return;
        }
        for (Activity activity : Activity.values()) {
            Contest contest = new Contest(activity.title(), results);
            contest.run(
                    turn,
                    GENERATIONS.stream()
                            .map(generation -> caravan(activity, generation))
                            .toList());
        }
    }

    private Contestant caravan(Activity activity, Generation generation) {
        End end = new End(Long.MAX_VALUE, Math.min(mostLogBytes, generation.times * generation.bytes()), SECONDS);
        return run.caravan(
                generation.system(),
                activity,
                end,
                settings -> settings.checkpointFloorBytes(generation.bytes()).checkpointFraction(NO_FRACTION));
    }

    @Override
    public Table table() {
        return new Table(
                "Generations",
                "The same life, on Caravan with a checkpoint after so much log: StoreConfig.checkpointFloorBytes, and a"
                        + " checkpointFraction so small that it does not matter. It ends after a whole number of these"
                        + " distances, with the checkpoint of the closing store, or after " + SECONDS + " s. One run"
                        + " of each: what counts here is bytes, not time.",
                results);
    }

    @Override
    public List<Picture> pictures() {
        String title = "Bytes written for each byte appended, by the log between checkpoints";
        XYChart chart = Charts.lines(title, "MiB of log between checkpoints", "written / appended");
        Charts.logX(chart);
        for (Activity activity : Activity.values()) {
            add(chart, "Caravan, " + activity.title() + ": log and heap", activity, LifeRun.LOG_AND_HEAP_RATIO);
            add(chart, "Caravan, " + activity.title() + ": the disk", activity, LifeRun.DISK_RATIO);
        }
        return List.of(new Picture(
                "generations",
                title,
                "Lower is better. What a document server trims before the next checkpoint has to be written only once;"
                        + " the more log comes between checkpoints, the more that is, and the more log a recovery"
                        + " reads. \"log and heap\" is counted by the store, \"the disk\" by Linux for the whole"
                        + " device: checkpoints and zeros of new files are in it.",
                chart));
    }

    private void add(XYChart chart, String line, Activity activity, Figure figure) {
        Charts.add(
                chart,
                line,
                GENERATIONS.stream().map(generation -> (double) generation.mib).toList(),
                GENERATIONS.stream()
                        .map(generation -> results.median(
                                new Row(activity.title(), generation.system(), LifeRun.DURABILITY), figure))
                        .toList());
    }
}
