package io.caravan.bench.timers;

import io.caravan.bench.report.Course;
import io.caravan.bench.report.MachineLimits;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code scripts/bench timers}: how late each way to wait is. */
@Command(
        name = "timers",
        mixinStandardHelpOptions = true,
        description = {
            "How much longer a wait is than was asked for, from 50 us to 10 ms: a scheduled executor, Thread.sleep,"
                    + " LockSupport.parkNanos, and parking with a spin at the end, as the store's flusher does.",
            "First on an idle machine, then with as many spinning threads as there are cores. Run it on a machine that"
                    + " does nothing else, or the idle one is not idle."
        })
public final class TimersCommand implements Callable<Integer> {
    @Mixin
    private final Course course = new Course();

    @Override
    public Integer call() throws IOException, InterruptedException {
        boolean quick = course.quick();
        course.run(List.of(new MachineLimits(quick), new Overshoots(false, quick), new Overshoots(true, quick)));
        return 0;
    }
}
