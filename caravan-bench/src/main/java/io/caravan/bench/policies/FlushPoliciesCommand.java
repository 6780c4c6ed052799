package io.caravan.bench.policies;

import io.caravan.bench.report.Course;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code scripts/bench flush-policies}: group commit by load. */
@Command(
        name = "flush-policies",
        mixinStandardHelpOptions = true,
        description = {
            "How long a durable append takes, and how often the disk is forced, by flush policy and load: immediate,"
                    + " adaptive and fixed delays, at 100 to 1,000,000 appends a second and with 64 writers that wait.",
            "Every run measures the machine's force time, which with the rate gives the theoretically best wait, W*."
        })
public final class FlushPoliciesCommand implements Callable<Integer> {
    @Mixin
    private final Course course = new Course();

    @Override
    public Integer call() throws IOException, InterruptedException {
        course.run(List.of(new PolicySweep(course.quick())));
        return 0;
    }
}
