package io.caravan.bench.published;

import io.caravan.Durability;
import io.caravan.bench.published.PublishedNumbers.Compared;
import io.caravan.bench.published.PublishedNumbers.Headline;
import io.caravan.bench.report.Charts;
import io.caravan.bench.report.Course;
import io.caravan.bench.report.Figure;
import io.caravan.bench.report.FsyncProbe;
import io.caravan.bench.report.Measure;
import io.caravan.bench.report.Measurement;
import io.caravan.bench.report.Results;
import io.caravan.bench.report.Results.Row;
import io.caravan.bench.report.Table;
import io.caravan.bench.report.Turn;
import java.io.IOException;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/**
 * {@code scripts/bench published}: compares the published numbers of earlier stores with Caravan's results for the same
 * workloads.
 */
@Command(
        name = "published",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Repeats workloads whose results were published in posts, and compares the results: the first Caravan of"
                    + " 2022 and its live service, OMGDB, SochDB, and LoremDB.",
            "The published numbers are copied, not measured, and come from other machines. If a post did not sync,"
                    + " Caravan runs both at that level and with every write fsynced. Each row states the other"
                    + " differences.",
            "All runs take about two minutes."
        })
public final class PublishedCommand implements Callable<Integer> {
    @Mixin
    private final Course course = new Course();

    @Override
    public Integer call() throws IOException, InterruptedException {
        course.run(List.of(new Published(course.quick())));
        return 0;
    }

    /** Runs the workload of every headline, and compares the result with the headline. */
    static final class Published implements Measure {
        static final Figure RATIO = new Figure("times as good as the headline", "%,.2f");

        private static final String CARAVAN = "Caravan";
        private static final int LARGE_BLOCK_BYTES = 1 << 20;

        private final Results results = new Results();
        private final List<Compared> all;
        private final boolean quick;
        private final int fsyncs;
        private final int largeFsyncs;

        /** Creates this part of the benchmark. A quick run shows only that the part works. */
        Published(boolean quick) {
            this.quick = quick;
            all = PublishedNumbers.all(quick);
            fsyncs = quick ? 50 : 2_000;
            largeFsyncs = quick ? 5 : 100;
        }

        @Override
        public void run(Turn turn) throws IOException, InterruptedException {
            measureMachine(turn);
            for (Compared compared : all) {
                Map<Durability, Measurement> measured = new EnumMap<>(Durability.class);
                for (Durability level : turn.inTurn(compared.levels())) {
                    if (turn.number() == 1 && !quick) {
                        turn.say(compared.name() + ", warming up");
                        measure(compared, turn, level);
                    }
                    turn.say(compared.name() + ", " + level);
                    measured.put(level, measure(compared, turn, level));
                }
                compared.headlines().forEach(headline -> add(compared, headline, measured));
            }
        }

        private static Measurement measure(Compared compared, Turn turn, Durability level)
                throws IOException, InterruptedException {
            try {
                return compared.work().run(turn, level);
            } catch (ExecutionException problem) {
                throw new IOException(compared.name() + " failed", problem.getCause());
            }
        }

        private void add(Compared compared, Headline headline, Map<Durability, Measurement> measured) {
            results.add(
                    compared.name() + headline.suffix(),
                    headline.system(),
                    headline.durability(),
                    new Measurement().with(headline.figure(), headline.value()));
            for (Durability level : compared.levels()) {
                double value = Objects.requireNonNull(measured.get(level)).get(headline.figure());
                results.add(
                        row(compared, headline, level),
                        new Measurement().with(headline.figure(), value).with(RATIO, headline.ratio(value)));
            }
        }

        private static Row row(Compared compared, Headline headline, Durability level) {
            return new Row(compared.name() + headline.suffix(), CARAVAN, level.name());
        }

        private void measureMachine(Turn turn) throws IOException {
            turn.say("fsyncs without a store");
            results.add(
                    "write and fsync of 4 KiB",
                    Charts.MACHINE,
                    "fsynced",
                    new Measurement()
                            .with(
                                    PublishedWorkload.MICROS_EACH,
                                    FsyncProbe.run(turn.work(), fsyncs).get(Figure.P50_MICROS)));
            results.add(
                    "write and fsync of 1 MiB",
                    Charts.MACHINE,
                    "fsynced",
                    new Measurement()
                            .with(
                                    Figure.VALUE_MB_PER_SECOND,
                                    FsyncProbe.run(turn.work(), LARGE_BLOCK_BYTES, largeFsyncs)
                                            .get(Figure.VALUE_MB_PER_SECOND)));
        }

        @Override
        public Table table() {
            Map<Row, String> remarks = new HashMap<>();
            for (Compared compared : all) {
                for (Headline headline : compared.headlines()) {
                    compared.levels().forEach(level -> remarks.put(row(compared, headline, level), compared.differs()));
                }
            }
            return new Table(
                    "Published numbers, and the same workloads here",
                    "Each headline is followed by the results of Caravan for the same workload on this machine: at the"
                            + " durability nearest to that of the post, and fsynced (`SYNC`). The headlines are copied"
                            + " from the posts and come from other machines. A ratio above 1 means that Caravan is better"
                            + " here; it compares machines as much as programs. `us each` is the median of the means of"
                            + " all runs. Writes of one kind end"
                            + " after"
                            + " " + PublishedWorkload.MAX_SECONDS + " s at the latest.",
                    results,
                    remarks);
        }
    }
}
