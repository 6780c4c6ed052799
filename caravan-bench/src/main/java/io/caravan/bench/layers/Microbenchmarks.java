package io.caravan.bench.layers;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;

/** Runs this package's benchmarks with JMH, each in its own JVM. */
final class Microbenchmarks {
    private static final String ALLOCATED = "gc.alloc.rate.norm";
    /** Otherwise JMH refuses to run two programs at once; keeping them from disturbing each other is up to the user. */
    private static final String IGNORE_LOCK = "jmh.ignoreLock";

    private final boolean quick;

    Microbenchmarks(boolean quick) {
        this.quick = quick;
    }

    /** The cost of one operation. */
    record Cost(double nanos, double allocatedBytes) {}

    /**
     * Runs all benchmarks once.
     *
     * @param directory for their files, on the disk to measure
     * @return costs by the benchmark's class and method: {@code HeapBenchmark.ask}
     */
    Map<String, Cost> run(Path directory) throws IOException {
        System.setProperty(IGNORE_LOCK, "true");
        ChainedOptionsBuilder options = new OptionsBuilder()
                .include(Microbenchmarks.class.getPackageName().replace(".", "\\.") + "\\..*Benchmark\\..*")
                .param("directory", directory.toString())
                .mode(Mode.AverageTime)
                .timeUnit(TimeUnit.NANOSECONDS)
                .addProfiler(GCProfiler.class)
                .verbosity(VerboseMode.SILENT)
                .shouldFailOnError(true);
        try {
            return costs(new Runner(lengths(options).build()).run());
        } catch (RunnerException failed) {
            throw new IOException("could not measure the layers", failed);
        }
    }

    /** Quick ones run inside this JVM, which JMH advises against when the figures matter. */
    private ChainedOptionsBuilder lengths(ChainedOptionsBuilder options) {
        if (quick) {
            return options.forks(0)
                    .warmupIterations(0)
                    .measurementIterations(1)
                    .measurementTime(TimeValue.milliseconds(20));
        }
        return options.forks(1)
                .jvmArgsAppend("-Xms1g", "-Xmx1g")
                .warmupIterations(2)
                .warmupTime(TimeValue.milliseconds(250))
                .measurementIterations(2)
                .measurementTime(TimeValue.milliseconds(250));
    }

    private static Map<String, Cost> costs(Collection<RunResult> results) {
        Map<String, Cost> costs = new LinkedHashMap<>();
        for (RunResult result : results) {
            String name = result.getParams().getBenchmark();
            Result<?> allocated = result.getSecondaryResults().get(ALLOCATED);
            costs.put(
                    name.substring(Microbenchmarks.class.getPackageName().length() + 1),
                    new Cost(result.getPrimaryResult().getScore(), allocated == null ? 0 : allocated.getScore()));
        }
        return costs;
    }
}
