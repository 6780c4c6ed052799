package io.caravan.bench.timers;

import io.caravan.bench.report.Course;
import io.caravan.bench.report.MachineLimits;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code scripts/bench timers}: how late each way to wait ends. */
@Command(
        name = "timers",
        mixinStandardHelpOptions = true,
        description = {
            "By how much waits of 50 us to 10 ms exceed the requested delay: a scheduled executor, Thread.sleep,"
                    + " LockSupport.parkNanos, and parking with a spin at the end, as the store's flusher does.",
            "Measures first on an idle machine, then with as many spinning threads as there are cores. Run it on an"
                    + " otherwise idle machine."
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
