package io.caravan.bench.archive;

import io.caravan.bench.report.Course;
import io.caravan.bench.report.MachineLimits;
import io.caravan.bench.report.Measure;
import java.io.IOException;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code scripts/bench archive}: archiving and restoring, beside what the AWS SDK does with the same bytes. */
@Command(
        name = "archive",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Caravan's server, in a process of its own, archives to S3 servers that run on the same machine and share its"
                    + " cores, and to a folder. Beside it stands the AWS SDK alone, with the same bytes, the same"
                    + " concurrency and the same S3 server. Figures are medians. The force times of the machine itself are"
                    + " measured in every run.",
            "s3proxy comes with this program; moto, from Python, is installed once, beside it. What is missing is said in"
                    + " its row."
        })
public final class ArchiveCommand implements Callable<Integer> {
    @Option(
            names = "--only",
            split = ",",
            paramLabel = "PART",
            description = {
                "what to measure: of ${COMPLETION-CANDIDATES}; default: all.",
                "documents: documents a second of 20 values that have never been archived, to s3proxy and to moto. Peer:"
                        + " the SDK putting two objects a document, of the sizes that Caravan's have.",
                "large: MB a second of one document of 512 MiB, compressible and not, to s3proxy. Peer: the SDK's"
                        + " multipart upload of a file of the same values.",
                "appends: durable appends a second while nothing is archived, and while all that changes is archived again"
                        + " every two seconds.",
                "restore: seconds that `caravan restore` takes for 100,000 documents of 20 values from a folder."
            })
    private @Nullable List<ArchivePart> only;

    @Mixin
    private final Course course = new Course();

    @Override
    public Integer call() throws IOException, InterruptedException {
        course.run(measures());
        return 0;
    }

    private List<Measure> measures() {
        List<ArchivePart> parts = only == null ? List.copyOf(EnumSet.allOf(ArchivePart.class)) : only;
        boolean quick = course.quick();
        return Stream.concat(Stream.of(new MachineLimits(quick)), parts.stream().map(part -> part.measure(quick)))
                .toList();
    }
}
