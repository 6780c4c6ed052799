package io.caravan.bench.engine;

import io.caravan.bench.Directories;
import io.caravan.bench.report.Results;
import io.caravan.bench.report.Results.Row;
import io.caravan.bench.report.Turn;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** Runs contestants one after the other, each in a directory of its own that is gone before the next one starts. */
final class Contest {
    private final String workload;
    private final Results results;

    /** Keeps what comes out in {@code results}. */
    Contest(String workload, Results results) {
        this.workload = workload;
        this.results = results;
    }

    /** In the order for this turn. */
    void run(Turn turn, List<Contestant> contestants) throws IOException, InterruptedException {
        for (Contestant contestant : turn.inTurn(contestants)) {
            turn.say(workload + ": " + contestant.system() + ", " + contestant.durability());
            run(turn, contestant);
        }
    }

    /** Does everything once, for the compiler's sake, and forgets the figures. */
    static void warmUp(Turn turn, List<Contestant> contestants) throws IOException, InterruptedException {
        turn.say("warming up");
        new Contest("warm-up", new Results()).runAll(turn, contestants);
    }

    private void runAll(Turn turn, List<Contestant> contestants) throws IOException, InterruptedException {
        for (Contestant contestant : contestants) {
            run(turn, contestant);
        }
    }

    private void run(Turn turn, Contestant contestant) throws IOException, InterruptedException {
        Path directory = turn.work().resolve("contest");
        try {
            results.add(
                    new Row(workload, contestant.system(), contestant.durability()),
                    contestant.work().run(directory));
        } finally {
            Directories.delete(directory);
        }
    }
}
