package io.caravan.bench.scaling;

import io.caravan.bench.report.Course;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code scripts/bench scaling}: how the cost of operations depends on the size of the store. */
@Command(
        name = "scaling",
        mixinStandardHelpOptions = true,
        description = {
            "The times of an append, a read, a read of a missing list, opening, replay, checkpoint and verification"
                    + " in stores of 10,000 to 10,000,000 entries and of 10 to 1,000,000 lists; reads of long lists"
                    + " from end to end; appends and reads by 1 to 64 threads; the longest time the store's lock was held.",
            "The stores are built once and used in every run. The machine's limits are shown beside them: a random"
                    + " read of memory as large as the index, a checksum over the same bytes, one lock with as many"
                    + " threads."
        })
public final class ScalingCommand implements Callable<Integer> {
    @Mixin
    private final Course course = new Course();

    @Override
    public Integer call() throws IOException, InterruptedException {
        boolean quick = course.quick();
        course.run(List.of(
                StoreSizes.byEntries(quick),
                StoreSizes.byLists(quick),
                new WholeLists(quick),
                new ThreadCounts(quick)));
        return 0;
    }
}
