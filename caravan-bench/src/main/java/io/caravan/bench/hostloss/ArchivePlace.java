package io.caravan.bench.hostloss;

import io.caravan.bench.s3.Bucket;
import io.caravan.bench.s3.S3Account;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;

/** The location of a drill's archive, and the arguments that pass it to Caravan's commands. */
final class ArchivePlace {
    static final String BUCKET = "caravan";
    static final String PREFIX = "drill/";

    private ArchivePlace() {}

    /**
     * Returns the command-line options that locate the archive.
     *
     * @param endpoint the endpoint of the S3 server, or of the proxy in front of it
     */
    static List<String> options(URI endpoint) {
        return List.of(
                "--archive",
                "s3://" + BUCKET + "/" + PREFIX.substring(0, PREFIX.length() - 1),
                "--s3-endpoint",
                endpoint.toString(),
                "--s3-region",
                S3Account.REGION,
                "--s3-path-style");
    }

    /** Returns a command line of these words and the location of the archive. */
    static List<String> command(Bucket bucket, String... words) {
        List<String> command = new ArrayList<>(List.of(words));
        command.addAll(options(bucket.endpoint()));
        return command;
    }
}
