package io.caravan.bench.engine;

import io.caravan.bench.WorkDirectories;
import io.caravan.bench.report.Results;
import io.caravan.bench.report.Turn;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/**
 * Runs contestants one after another, each in its own directory, which is deleted before the next contestant starts.
 */
public final class Contest {
    private final String workload;
    private final Results results;

    /** Creates a contest that adds its measurements to {@code results}. */
    public Contest(String workload, Results results) {
        this.workload = workload;
        this.results = results;
    }

    /** Runs the contestants in the order of this turn. */
    public void run(Turn turn, List<Contestant> contestants) throws IOException, InterruptedException {
        for (Contestant contestant : turn.inTurn(contestants)) {
            turn.say(workload + ": " + contestant.system() + ", " + contestant.durability());
            run(turn, contestant);
        }
    }

    /** Runs every contestant once to warm up the JVM, and discards the results. */
    static void warmUp(Turn turn, List<Contestant> contestants) throws IOException, InterruptedException {
        turn.say("warming up");
        Contest discarded = new Contest("warm-up", new Results());
        for (Contestant contestant : contestants) {
            discarded.run(turn, contestant);
        }
    }

    private void run(Turn turn, Contestant contestant) throws IOException, InterruptedException {
        Path directory = turn.work().resolve("contest");
        try {
            results.add(
                    workload,
                    contestant.system(),
                    contestant.durability(),
                    contestant.work().run(directory));
        } finally {
            WorkDirectories.delete(directory);
        }
    }
}
