package io.caravan.bench.network;

import io.caravan.bench.report.Results;
import io.caravan.bench.report.Turn;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Starts servers for one run of all parts.
 *
 * @param alone whether Caravan is measured without its peers
 */
public record Stage(Turn turn, boolean alone) {

    /** A task on a running server. */
    @FunctionalInterface
    public interface Task {
        void run(RunningServer server) throws IOException, InterruptedException;
    }

    /** The working directory on the disk to measure. */
    public Path work() {
        return turn.work();
    }

    /** As {@link Turn#inTurn}. */
    public <T> List<T> inTurn(List<T> all) {
        return turn.inTurn(all);
    }

    /** As {@link Turn#say}. */
    public void say(String what) {
        turn.say(what);
    }

    /** Starts a system, runs the task and stops the system; when it cannot run here, the results say why. */
    public void with(Subject subject, String workload, Results results, Task task)
            throws IOException, InterruptedException {
        String missing = missing(subject);
        if (missing != null) {
            results.absent(workload, subject.name(), missing);
            return;
        }
        say(workload + ", " + subject.name());
        try (RunningServer server = RunningServer.start(subject, work())) {
            task.run(server);
        }
    }

    private @Nullable String missing(Subject subject) throws IOException {
        return alone && !(subject instanceof Caravan) ? "left out by --alone" : subject.missing();
    }
}
