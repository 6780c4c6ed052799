package io.caravan.bench.patterns;

import io.caravan.bench.report.Course;
import io.caravan.bench.report.MachineLimits;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code scripts/bench write-patterns}: what a write costs, by how it is done. */
@Command(
        name = "write-patterns",
        mixinStandardHelpOptions = true,
        description = {
            "What a write costs, from 16 bytes to 1 MiB, by how it is done: a file that is opened for each write, held"
                    + " open, buffered, mapped, or written directly; growing, or written before; not forced, forced each"
                    + " time, or forced 64 KiB at a time.",
            "It is why Caravan's log is gathered in memory and written into files that were written before. The machine's"
                    + " own limits are measured beside it, in every run."
        })
public final class WritePatternsCommand implements Callable<Integer> {
    @Mixin
    private final Course course = new Course();

    @Override
    public Integer call() throws IOException, InterruptedException {
        boolean quick = course.quick();
        course.run(List.of(
                new MachineLimits(quick),
                new PatternSweep(Forcing.NEVER, quick),
                new PatternSweep(Forcing.EACH, quick),
                new PatternSweep(Forcing.BATCH, quick)));
        return 0;
    }
}
