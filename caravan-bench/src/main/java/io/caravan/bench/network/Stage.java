package io.caravan.bench.network;

import io.caravan.bench.report.Results;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Where servers are started, for one run of all parts.
 *
 * @param work on the disk to measure
 * @param run which of the runs this is, from 1 on
 * @param alone whether Caravan is measured without its peers
 * @param title which of the runs this is, for people
 */
record Stage(Path work, int run, boolean alone, String title) {

    /** What is done to a server. */
    @FunctionalInterface
    interface Task {
        void run(RunningServer server) throws IOException, InterruptedException;
    }

    /** In the order for this run: each is the first one in one of them, because a machine may tire or warm up meanwhile. */
    <T> List<T> inTurn(List<T> all) {
        List<T> rotated = new ArrayList<>(all);
        Collections.rotate(rotated, 1 - run);
        return rotated;
    }

    /** Tells people what is being done now. */
    void say(String what) {
        System.err.println(title + ": " + what);
    }

    /** Starts a system, does the task and ends it; when it cannot be run here, the results say why. */
    void with(Subject subject, String workload, Results results, Task task) throws IOException, InterruptedException {
        String missing = missing(subject);
        if (missing != null) {
            results.absent(workload, subject.name(), missing);
            return;
        }
        say(workload + ", " + subject.name());
        try (RunningServer server = RunningServer.start(subject, work)) {
            task.run(server);
        }
    }

    private @Nullable String missing(Subject subject) throws IOException {
        return alone && !(subject instanceof Caravan) ? "left out, as asked" : subject.missing();
    }
}
