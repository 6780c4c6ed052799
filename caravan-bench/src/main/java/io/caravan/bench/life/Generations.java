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
    private static final List<Integer> SIZES_MIB = List.of(16, 64, 256, 1024);
    /** So little that the floor alone decides when a checkpoint starts. */
    private static final double NO_FRACTION = 1e-9;

    private static final long MIB = 1 << 20;

    private final LifeRun run;
    private final End least;
    private final int leastGenerations;
    private final Results results = new Results();

    /**
     * Creates the measure.
     *
     * @param least where a life ends unless it takes more for the generations
     * @param leastGenerations number of times that as much is appended as comes between two checkpoints; the last one
     *     ends with the checkpoint of the closing store
     */
    Generations(LifeRun run, End least, int leastGenerations) {
        this.run = run;
        this.least = least;
        this.leastGenerations = leastGenerations;
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
                    turn, SIZES_MIB.stream().map(mib -> caravan(activity, mib)).toList());
        }
    }

    private Contestant caravan(Activity activity, int mib) {
        End end = new End(Math.max(least.bytes(), leastGenerations * mib * MIB), least.seconds());
        return run.caravan(
                system(mib),
                activity,
                end,
                settings -> settings.checkpointFloorBytes(mib * MIB).checkpointFraction(NO_FRACTION));
    }

    private static String system(int mib) {
        return "Caravan, " + mib + " MiB of log between checkpoints";
    }

    @Override
    public Table table() {
        return new Table(
                "Generations",
                "The same life, on Caravan with a checkpoint after so much log"
                        + " (StoreConfig.checkpointFloorBytes; checkpointFraction so small that it does not matter), until"
                        + " at least " + leastGenerations + " times as much has been appended; closing the store makes"
                        + " the last checkpoint. One run of each: what counts here is bytes, not time.",
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
                SIZES_MIB.stream().map(Integer::doubleValue).toList(),
                SIZES_MIB.stream()
                        .map(mib -> results.median(new Row(activity.title(), system(mib), LifeRun.DURABILITY), figure))
                        .toList());
    }
}
