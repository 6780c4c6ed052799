package io.caravan.bench.report;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * One run of all parts of a benchmark.
 *
 * @param work directory on the disk to measure
 * @param number number of the run, counted from 1
 * @param title title of the run, for people
 */
public record Turn(Path work, int number, String title) {

    /**
     * Returns the items in an order that is rotated from run to run. Consecutive runs start with different items,
     * because a machine's speed may drift.
     */
    public <T> List<T> inTurn(List<T> all) {
        List<T> rotated = new ArrayList<>(all);
        Collections.rotate(rotated, 1 - number);
        return rotated;
    }

    public void say(String what) {
        System.err.println(title + ": " + what);
    }
}
