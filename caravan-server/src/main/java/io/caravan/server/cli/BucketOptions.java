package io.caravan.server.cli;

import io.caravan.server.archive.object.S3Options;
import java.net.URI;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** How to reach the bucket of an archive. Credentials are never options: the AWS SDK finds them where it always does. */
@SuppressWarnings("NullAway.Init") // picocli sets the fields
final class BucketOptions {
    @Option(
            names = "--s3-endpoint",
            paramLabel = "URL",
            description = "The S3 server, if it is not Amazon's: http://HOST:PORT or https://HOST:PORT.")
    private @Nullable URI endpoint;

    @Option(
            names = "--s3-region",
            paramLabel = "REGION",
            description = "The bucket's region; without it, the one that the AWS SDK finds.")
    private @Nullable String region;

    @Option(
            names = "--s3-path-style",
            description = "Name the bucket in the path, as most servers that are not Amazon's want it.")
    private boolean pathStyle;

    /**
     * The options.
     *
     * @throws IllegalArgumentException when the endpoint is none
     */
    S3Options options() {
        return new S3Options(endpoint, region, pathStyle);
    }
}
