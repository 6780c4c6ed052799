package io.caravan.bench.seeds;

import io.caravan.bench.report.Course;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/**
 * {@code scripts/bench seeds}: compares the published numbers of earlier stores with Caravan's results for the same
 * workloads.
 */
@Command(
        name = "seeds",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Repeats the workloads of the posts that inspired Caravan and compares the figures: the first Caravan of"
                    + " 2022 and its live service, OMGDB, SochDB and LoremDB.",
            "The posts' figures are copied, not measured; they come from other machines. Where a post did not sync,"
                    + " Caravan runs both at that level and with every write forced. Each row states other"
                    + " differences.",
            "All runs take about two minutes."
        })
public final class SeedsCommand implements Callable<Integer> {
    @Mixin
    private final Course course = new Course();

    @Override
    public Integer call() throws IOException, InterruptedException {
        course.run(List.of(new Seeds(course.quick())));
        return 0;
    }
}
