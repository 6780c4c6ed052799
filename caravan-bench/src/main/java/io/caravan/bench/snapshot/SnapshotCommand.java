package io.caravan.bench.snapshot;

import io.caravan.bench.report.Course;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code scripts/bench snapshot}: an archive's snapshots, written and read in memory. */
@Command(
        name = "snapshot",
        mixinStandardHelpOptions = true,
        description = {
            "Writes and reads snapshots of an archive in memory, by one thread: large documents of values that compress and"
                    + " of values that do not, and documents of 20 values.",
            "Beside them stands the SHA-256 of the same values, which every byte of a snapshot gets. Figures are medians."
        })
public final class SnapshotCommand implements Callable<Integer> {
    @Option(names = "--seed", paramLabel = "S", description = "seed of the values; default ${DEFAULT-VALUE}")
    private long seed = 1;

    @Mixin
    private final Course course = new Course();

    @Override
    public Integer call() throws IOException, InterruptedException {
        course.run(List.of(new Snapshots(seed, course.quick())));
        return 0;
    }
}
