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
            "Writes and reads archive snapshots in memory with one thread: large documents of compressible and of"
                    + " incompressible values, and documents of 20 values.",
            "For comparison, computes the SHA-256 of the same values, which covers every byte of a snapshot. Figures"
                    + " are medians."
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
