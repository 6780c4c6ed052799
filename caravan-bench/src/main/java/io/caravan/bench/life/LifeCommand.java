package io.caravan.bench.life;

import io.caravan.bench.report.Course;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code scripts/bench life}: the bytes that a document server's life brings to the disk. */
@Command(
        name = "life",
        mixinStandardHelpOptions = true,
        description = {
            "How many bytes reach the disk for each byte that a document server appends, beside RocksDB, LMDB and"
                    + " Chronicle Queue.",
            "",
            "Values of 1 to 300 bytes are appended to 10,000 documents. After 100 to 1,000 changes of a document a"
                    + " snapshot of 2 to 200 KiB is appended to it, and everything before is trimmed. The changes go to"
                    + " all documents at random, or to a few hundred that are edited at a time. Every store waits for"
                    + " the disk after each 1,000 changes.",
            "",
            "The disk's writes are those that Linux counts for the whole device, so nothing else may write to it"
                    + " meanwhile. Takes about five minutes and up to 8 GiB of disk."
        })
public final class LifeCommand implements Callable<Integer> {
    private static final long MIB = 1 << 20;

    @Mixin
    private Course course = new Course();

    @Option(names = "--seed", paramLabel = "S", description = "seed of the life; default ${DEFAULT-VALUE}")
    private long seed = 1;

    @Option(
            names = "--seconds",
            paramLabel = "N",
            description =
                    "how long a store goes on in a run, unless it has come to the end: what RocksDB compacts grows"
                            + " with it; default ${DEFAULT-VALUE}")
    private int seconds = 4;

    @Override
    public Integer call() throws IOException, InterruptedException {
        LifeRun run = new LifeRun(course.quick(), seed);
        long bytes = course.quick() ? MIB : 1024 * MIB;
        course.run(List.of(new SameLife(run, bytes, seconds), new Generations(run, bytes)));
        return 0;
    }
}
