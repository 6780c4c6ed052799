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

/**
 * {@code scripts/bench archive}: measures archiving and restoring, compared with the AWS SDK transferring the same
 * bytes.
 */
@Command(
        name = "archive",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Caravan's server, in its own process, archives to a folder and to S3 servers that run on the same"
                    + " machine and share its cores. Its peer is the plain AWS SDK with the same bytes, the same"
                    + " concurrency and the same S3 server. Figures are medians. Every run also measures the force"
                    + " times of the machine.",
            "s3proxy comes with this program; moto, a Python program, is installed once, beside it. Where it cannot"
                    + " run, its row says why."
        })
public final class ArchiveCommand implements Callable<Integer> {
    @Option(
            names = "--only",
            split = ",",
            paramLabel = "PART",
            description = {
                "what to measure, one or more of ${COMPLETION-CANDIDATES}; default: all.",
                "documents: documents a second, of 20 values that were never archived, to s3proxy and to moto. Peer:"
                        + " the SDK puts two objects a document, of the same sizes as Caravan's.",
                "large: MB a second of one document of 512 MiB, compressible or not, to s3proxy. Peer: the SDK's"
                        + " multipart upload of a file with the same values.",
                "appends: durable appends a second without archiving, and while all changes are archived every two"
                        + " seconds.",
                "restore: seconds that `caravan restore` takes to restore 100,000 documents of 20 values from a folder."
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
