package io.caravan.bench.engine;

import io.caravan.bench.report.Course;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code scripts/bench groups}: measures the gain of several shards, each with its own log, on this machine's disk. */
@Command(
        name = "groups",
        mixinStandardHelpOptions = true,
        description = {
            "64 writers that wait for each append, to a store of 1, 2 and 4 groups, beside what the disk does by hand:"
                    + " 1, 2 and 4 threads that each write and force a block after the other in a file of their own.",
            "Groups gain something where the disk forces several files at the same time faster than one after the other,"
                    + " and the processor has cores for it."
        })
public final class GroupsCommand implements Callable<Integer> {
    @Mixin
    private Course course = new Course();

    @Option(names = "--seed", paramLabel = "S", description = "seed of the values; default ${DEFAULT-VALUE}")
    private long seed = 1;

    @Override
    public Integer call() throws IOException, InterruptedException {
        Workload workload = Workload.small(seed);
        Stores stores = new Stores(course.quick());
        course.run(List.of(
                course.quick()
                        ? new GroupedWriters(stores, workload, 20, 20)
                        : new GroupedWriters(stores, workload, 1_000, 1_500)));
        return 0;
    }
}
