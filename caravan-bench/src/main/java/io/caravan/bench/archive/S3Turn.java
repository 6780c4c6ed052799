package io.caravan.bench.archive;

import io.caravan.bench.WorkDirectories;
import io.caravan.bench.report.Results;
import io.caravan.bench.report.Turn;
import io.caravan.bench.s3.Bucket;
import io.caravan.bench.s3.S3Process;
import io.caravan.bench.s3.S3Software;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Runs a task with a fresh S3 server, in a working directory that is deleted afterward. */
final class S3Turn {
    private S3Turn() {}

    interface Task {
        void run(Path work, Bucket bucket) throws IOException, InterruptedException;
    }

    /** Runs the task. If the S3 server cannot run on this machine, adds the reason to the results. */
    static void with(S3Software software, Turn turn, String workload, Results results, Task task)
            throws IOException, InterruptedException {
        String missing = software.program().install();
        if (missing != null) {
            results.absent(workload, software.toString(), missing);
            return;
        }
        Path work = Files.createTempDirectory(turn.work(), "archive");
        try (S3Process server = S3Process.start(software, work);
                Bucket bucket = new Bucket(server.endpoint(), ArchivingServer.BUCKET)) {
            bucket.create();
            task.run(work, bucket);
        } finally {
            WorkDirectories.delete(work);
        }
    }
}
