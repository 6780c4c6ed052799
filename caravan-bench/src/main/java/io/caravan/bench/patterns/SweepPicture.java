package io.caravan.bench.patterns;

import io.caravan.bench.report.Charts;
import io.caravan.bench.report.Picture;
import io.caravan.bench.report.Results;
import java.util.List;
import org.knowm.xchart.XYChart;

/** Speed over write size, with a line for each pattern. */
final class SweepPicture {
    private final PatternSweep sweep;
    private final Forcing forcing;
    private final Results results;

    SweepPicture(PatternSweep sweep, Forcing forcing, Results results) {
        this.sweep = sweep;
        this.forcing = forcing;
        this.results = results;
    }

    Picture picture(List<Pattern> patterns) {
        XYChart chart = Charts.lines(title(), "bytes a write", "MB/s");
        Charts.logX(chart);
        Charts.logY(chart);
        List<Double> xs = sweep.sizes().stream().map(Integer::doubleValue).toList();
        for (Pattern pattern : patterns) {
            Charts.add(
                    chart,
                    pattern.name(),
                    xs,
                    sweep.sizes().stream().map(size -> speed(pattern, size)).toList());
        }
        return new Picture(name(), title(), caption(), chart);
    }

    /** The machine's limit for batches does not depend on the size of the writes, so it is a horizontal line. */
    private double speed(Pattern pattern, int writeBytes) {
        boolean level = forcing == Forcing.BATCH && pattern.name().startsWith(Charts.MACHINE);
        int size = level ? sweep.sizes(pattern).get(0) : writeBytes;
        return results.median(sweep.row(pattern, size), PatternSweep.MB_PER_SECOND);
    }

    private String name() {
        return switch (forcing) {
            case NEVER -> "unforced";
            case EACH -> "forced";
            case BATCH -> "batched";
        };
    }

    private String title() {
        return switch (forcing) {
            case NEVER -> "Writes that nothing forces to the disk";
            case EACH -> "Writes that are each forced to the disk";
            case BATCH -> "Writes that are forced 64 KiB at a time";
        };
    }

    private String caption() {
        return switch (forcing) {
            case NEVER ->
                "The cost of a small write that a crash may lose: the system call dominates, and opening the file"
                        + " for each write costs most. Both axes are logarithmic; the dashed line is a copy in memory.";
            case EACH ->
                "The cost of a write that must survive a crash: the force dominates, almost regardless of size. A"
                        + " file whose blocks were written before needs no change to the file system's metadata."
                        + " Both axes are logarithmic.";
            case BATCH ->
                "Small writes that share a force: gathered in memory and written with one call to a file that was"
                        + " written before, they approach the disk's limit for a force of 64 KiB, the dashed line. Both"
                        + " axes are logarithmic.";
        };
    }
}
