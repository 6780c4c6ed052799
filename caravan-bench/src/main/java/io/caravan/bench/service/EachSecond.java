package io.caravan.bench.service;

import io.caravan.bench.load.Second;
import io.caravan.bench.load.Timeline;
import io.caravan.bench.network.Subject;
import io.caravan.bench.report.Measure;
import io.caravan.bench.report.Results;
import io.caravan.bench.report.Results.Row;
import io.caravan.bench.report.Table;
import io.caravan.bench.report.Turn;
import java.util.List;

/** The live-service table: every second of each server's median run, as measured by {@link LiveService}. */
final class EachSecond implements Measure {
    private final Front front;
    private final LoadRuns runs;

    EachSecond(Front front, LoadRuns runs) {
        this.front = front;
        this.runs = runs;
    }

    @Override
    public void run(Turn turn) {
        // LiveService has already measured everything.
    }

    @Override
    public Table table() {
        Results results = new Results();
        runs.subjects().forEach(subject -> add(results, subject));
        return new Table(
                front.name() + ": each second of the median run",
                "From each server's run with the median p98. Requests and answers count in the second in which they"
                        + " were sent or received; the times are those of all appends that were due in a second.",
                results);
    }

    private void add(Results results, Subject subject) {
        Timeline timeline = runs.median(subject).timeline();
        List<Second> seconds = timeline.seconds();
        for (int i = 0; i < seconds.size(); i++) {
            add(results, subject, "second " + (i + 1), seconds.get(i));
        }
        if (timeline.afterEnd().acks() + timeline.afterEnd().failures() > 0) {
            add(results, subject, "after the last", timeline.afterEnd());
        }
    }

    private void add(Results results, Subject subject, String when, Second second) {
        results.add(
                new Row(front.request() + ", " + when, subject.name(), subject.durability()),
                ServiceFigures.of(second));
    }
}
