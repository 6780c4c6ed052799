package io.caravan.bench.seeds;

import io.caravan.bench.report.Course;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code scripts/bench seeds}: the figures of the posts that Caravan grew out of, beside the same work here. */
@Command(
        name = "seeds",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Does what the posts that Caravan grew out of give figures of, and shows both: the first Caravan of 2022 and its"
                    + " live service, OMGDB, SochDB and LoremDB.",
            "The posts' figures are copied, not measured: they come from other machines. Where they did not sync, Caravan"
                    + " runs at that level too, beside forcing every write. What else differs is said in each row.",
            "All runs take some two minutes."
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
