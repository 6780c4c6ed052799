package io.caravan.bench.report;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * One run of all parts of a benchmark.
 *
 * @param work a directory on the disk to measure
 * @param number of the run, from 1 on
 * @param title which of the runs this is, for people
 */
public record Turn(Path work, int number, String title) {

    /** In the order for this run: each is the first one in one of them, because a machine may tire or warm up meanwhile. */
    public <T> List<T> inTurn(List<T> all) {
        List<T> rotated = new ArrayList<>(all);
        Collections.rotate(rotated, 1 - number);
        return rotated;
    }

    /** Tells people what is being done now. */
    public void say(String what) {
        System.err.println(title + ": " + what);
    }
}
