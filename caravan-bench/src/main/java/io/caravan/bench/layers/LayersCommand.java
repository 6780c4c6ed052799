package io.caravan.bench.layers;

import io.caravan.bench.report.Course;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code scripts/bench layers}: where the time of an append goes. */
@Command(
        name = "layers",
        mixinStandardHelpOptions = true,
        description = {
            "Where the time of an append goes: nanoseconds and bytes allocated for each layer alone (checksum, lock,"
                    + " region, index, record, copies, write), measured by JMH, and for whole appends: without I/O, at"
                    + " PROCESS, at SYNC, over RESP and HTTP.",
            "Also the parts of one append that is waited for: waking the flusher, write, force, waking the writer;"
                    + " beside the machine's own time for each.",
            "Uses redis-benchmark from the PATH; if it is missing, the RESP rows say so."
        })
public final class LayersCommand implements Callable<Integer> {
    @Mixin
    private final Course course = new Course();

    @Override
    public Integer call() throws IOException, InterruptedException {
        boolean quick = course.quick();
        course.run(List.of(new Layers(quick), new WaitingParts(quick)));
        return 0;
    }
}
