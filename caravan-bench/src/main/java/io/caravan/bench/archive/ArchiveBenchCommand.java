package io.caravan.bench.archive;

import io.caravan.bench.report.Course;
import io.caravan.bench.report.Measure;
import java.io.IOException;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code scripts/bench archive}: measures archiving and restoring, and compares archiving with plain SDK transfers. */
@Command(
        name = "archive",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Measures how a Caravan server in its own process archives to a directory, and to S3 servers that run on"
                    + " the same machine and share its cores. Its peer is the plain AWS SDK with the same bytes, the same"
                    + " concurrency, and the same S3 server. The results are medians. Every run also measures the fsync"
                    + " times of the machine.",
            "s3proxy comes with this program; moto, a Python program, is installed once, next to it. If it cannot"
                    + " run, its row states the reason."
        })
public final class ArchiveBenchCommand implements Callable<Integer> {
    /** The parts of this benchmark, in the order in which they run by default. */
    enum Part {
        DOCUMENTS,
        APPENDS,
        RESTORE;

        /** Returns the name that selects this part on the command line. */
        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    @Option(
            names = "--only",
            split = ",",
            paramLabel = "PART",
            description = {
                "what to measure, one or more of ${COMPLETION-CANDIDATES}; default: all.",
                "documents: documents per second, of 20 values that were never archived, to s3proxy and to moto. Peer:"
                        + " the SDK puts two objects for each document, with the same sizes.",
                "appends: durable appends per second without archiving, and while all changes are archived every two"
                        + " seconds.",
                "restore: seconds that `caravan restore` takes to restore 100,000 documents of 20 values from a"
                        + " directory."
            })
    private @Nullable List<Part> only;

    @Mixin
    private final Course course = new Course();

    @Override
    public Integer call() throws IOException, InterruptedException {
        return course.runAfterLimits(only, Part.values(), this::measure);
    }

    private Measure measure(Part part) {
        boolean quick = course.quick();
        return switch (part) {
            case DOCUMENTS -> new DocumentRates(quick);
            case APPENDS -> new AppendRates(quick);
            case RESTORE -> new RestoreTimes(quick);
        };
    }
}
