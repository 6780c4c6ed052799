package io.caravan.bench.fragmentation;

import io.caravan.bench.report.Course;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code scripts/bench fragmentation}: Caravan's heap beside a linked list, over the life of a document server. */
@Command(
        name = "fragmentation",
        mixinStandardHelpOptions = true,
        description = {
            "How a heap changes when its contents are rewritten fifty times: its size over the live bytes, and the"
                    + " cost of an allocation.",
            "Compares Caravan's indexed heap with a first-fit linked list of holes, the classic design. Both go"
                    + " through the same seeded life of a document server: edits, snapshots, trims, deletions."
                    + " Nothing touches a disk."
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
