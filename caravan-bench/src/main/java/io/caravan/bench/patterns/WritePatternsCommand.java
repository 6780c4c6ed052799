package io.caravan.bench.patterns;

import io.caravan.bench.report.Course;
import io.caravan.bench.report.MachineLimits;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code scripts/bench write-patterns}: the cost of a write, by how it is done. */
@Command(
        name = "write-patterns",
        mixinStandardHelpOptions = true,
        description = {
            "The cost of a write of 16 bytes to 1 MiB, by how it is done: to a file that is opened for each write,"
                    + " held open, buffered, mapped, or written with direct I/O; growing, or written before; not"
                    + " forced, forced each time, or forced 64 KiB at a time.",
            "The results are why Caravan gathers its log in memory and writes it to files that were written before."
                    + " Every run also measures the machine's own limits."
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
