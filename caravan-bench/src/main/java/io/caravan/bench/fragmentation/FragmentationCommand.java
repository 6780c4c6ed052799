package io.caravan.bench.fragmentation;

import io.caravan.bench.report.Course;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code scripts/bench fragmentation}: Caravan's heap beside a linked list, over a document server's life. */
@Command(
        name = "fragmentation",
        mixinStandardHelpOptions = true,
        description = {
            "What becomes of a heap when all that is in it has been written fifty times over: its size over what is"
                    + " live, and the cost of an allocation.",
            "Caravan's indexed heap stands beside a linked list of holes, first fit, as heaps were first made for this."
                    + " Both live the same seeded life of a document server: edits, snapshots, trims, deletions. Nothing"
                    + " touches a disk."
        })
public final class FragmentationCommand implements Callable<Integer> {
    @Mixin
    private final Course course = new Course();

    @Override
    public Integer call() throws IOException, InterruptedException {
        course.run(List.of(new Turnovers(course.quick())));
        return 0;
    }
}
